/** The sandbox's record of every request that it received, for tests. */

export interface LoggedRequest {
  /** From 1, in the order of arrival. */
  readonly number: number;
  readonly arrivedAt: Date;
  readonly method: string;
  readonly path: string;
  /** Name of the endpoint; absent if the path belongs to none. */
  readonly endpoint?: string;
  /** The parsed body, or its text if it is not JSON; the query of a GET. */
  readonly body: unknown;
  /** The client's `x-request-id`, or one that the sandbox generated. */
  readonly xRequestId: string;
  /** Requests without an answer at arrival, this one included. A request whose answer is being sent does not count. */
  readonly inFlight: number;
  /** Status of the answer. Null while there is none; stays null if the connection was reset before the answer. */
  readonly status: number | null;
  /** Points charged. */
  readonly cost: number;
  /** Items in the answer; null if the answer is not an array. */
  readonly count: number | null;
  /** The kind of the injected fault. */
  readonly fault?: string;
  /** Digest of the answer's complete body, even if only a part was sent. */
  readonly sha256: string | null;
  readonly bytes: number;
  readonly endedAt: Date | null;
}

/** The same record while the request is running. */
export type Arrival = { -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] };
