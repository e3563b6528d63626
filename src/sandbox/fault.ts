/** What can go wrong on purpose, and at which requests. */

export interface Fault {
  readonly on: When;
  readonly do: Trouble;
  /** Whether the request is charged all the same; unset, it is when the service did the work before the trouble. */
  readonly billed?: boolean;
}

/** Which requests a fault befalls; every one, when nothing is said. */
export interface When {
  /** Name of an endpoint; unset, any. */
  readonly endpoint?: string;
  /** The n-th request that the endpoint matches, from 1, or each of them. */
  readonly nth?: number | 'every';
  /** This share of requests, 0 to 1: the same ones for the same seed, in whatever order they arrive. */
  readonly rate?: number;
}

export type Trouble =
  /** An answer with this status; its body is an error's unless it is given. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The right answer, this much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The right answer, of which only this much arrives before the connection ends. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The connection is reset: before the request is looked at, before the answer's headers, or amid its body. */
  | { readonly kind: 'reset'; readonly stage: 'before' | 'headers' | 'body' }
  /** Status 200 with a body that is no JSON, or not the right one. */
  | { readonly kind: 'malformed'; readonly body: string }
  /** Status 200 with a page for humans. */
  | { readonly kind: 'html' }
  /** The balance is empty from this request on, and the service says so with this status. */
  | { readonly kind: 'out_of_points'; readonly status: 401 | 402 | 403 }
  /** The token is refused from this request on. */
  | { readonly kind: 'revoked' }
  | { readonly kind: 'redirect'; readonly to: string }
  /** Status 200 with these items instead of the world's. */
  | { readonly kind: 'body'; readonly items: unknown };
