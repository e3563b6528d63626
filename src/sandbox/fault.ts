/** Faults to inject, and the requests that get them. */

export interface Fault {
  readonly on: When;
  readonly do: FaultEffect;
  /**
   * True if the request is charged despite the fault. By default, it is charged if the service did the work before the
   * fault.
   */
  readonly billed?: boolean;
}

/** The requests that a fault applies to; without conditions, all. */
export interface When {
  /** Name of an endpoint; by default any. */
  readonly endpoint?: string;
  /** The n-th matching request, from 1, or every one. */
  readonly nth?: number | 'every';
  /** The share of requests, 0 to 1. For one seed, the same requests match in any order of arrival. */
  readonly rate?: number;
}

export type FaultEffect =
  /** An answer with this status; the default body is that of an error. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The right answer, delayed by this time. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The right answer, but the connection ends after this number of bytes. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** A reset of the connection: before the request is processed, before the answer's headers, or within its body. */
  | { readonly kind: 'reset'; readonly stage: 'before' | 'headers' | 'body' }
  /** Status 200 with a body that is not JSON, or not the right one. */
  | { readonly kind: 'malformed'; readonly body: string }
  /** Status 200 with an HTML page. */
  | { readonly kind: 'html' }
  /** The balance is empty from this request on; requests get this status. */
  | { readonly kind: 'out_of_points'; readonly status: 401 | 402 | 403 }
  /** The token is refused from this request on. */
  | { readonly kind: 'revoked' }
  | { readonly kind: 'redirect'; readonly to: string }
  /** Status 200 with these items instead of the world's. */
  | { readonly kind: 'body'; readonly items: unknown };
