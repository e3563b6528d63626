/** The request of an answer: its rows are made from both. */

/** A request's body with the contract's defaults filled in and without `timeout`. */
export type RequestBody = Readonly<Record<string, unknown>>;

export interface KeyedRequest {
  /** The sync that sends the request; bridge tables store it. */
  readonly sync: string;
  /** SHA-256, in hex, of the endpoint and the canonical body. */
  readonly requestKey: string;
  readonly request: RequestBody;
}
