/** What the sandbox remembers of every request that reached it, whatever came of it: what tests look at. */

export interface LoggedRequest {
  /** From 1, in the order of arrival. */
  readonly number: number;
  readonly arrivedAt: Date;
  readonly method: string;
  readonly path: string;
  /** Name of the endpoint; absent when the path is none's. */
  readonly endpoint?: string;
  /** The body as parsed, or its text where it is no JSON; of a GET, the query. */
  readonly body: unknown;
  /** The client's `x-request-id`, or the one that the sandbox gave. */
  readonly requestId: string;
  /** Requests without an answer when it arrived, itself included; one whose answer is being sent counts no more. */
  readonly inFlight: number;
  /** Status of the answer; null while there is none, and for ever when the connection was reset before it. */
  readonly status: number | null;
  /** Points charged. */
  readonly cost: number;
  /** Items in the answer; null when it is no array. */
  readonly count: number | null;
  /** The kind of fault that befell it. */
  readonly fault?: string;
  /** Of the answer's body as it was meant to arrive, whether or not all of it did. */
  readonly sha256: string | null;
  readonly bytes: number;
  readonly endedAt: Date | null;
}

/** The same while the request is under way. */
export type Arrival = { -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] };
