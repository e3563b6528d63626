/** What was asked: the part of a question that its answer's rows are made with. */

/** A request's body with the contract's defaults filled in and without `timeout`. */
export type RequestBody = Readonly<Record<string, unknown>>;

export interface KeyedRequest {
  /** The sync that asks; bridges keep it. */
  readonly sync: string;
  /** SHA-256, in hex, of the endpoint and the canonical body. */
  readonly requestKey: string;
  readonly request: RequestBody;
}
