/** Faults to inject, and the requests that get them. */
import { canonicalJson } from '../service/canonical-json.ts';
import { digestOf, happens, scramble } from './world/draw.ts';

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

/** The fault for a request of this endpoint: the first one in the script that applies; undefined if none applies. */
export type FaultPlan = (endpoint: string | undefined, body: unknown) => Fault | undefined;

/**
 * A plan for a script of faults. Rates depend on the request and how often it was sent, not on its time of arrival. So
 * concurrent requests get the same faults in every run with one seed.
 */
export function faultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const matched = faults.map(() => 0);
  const timesSent = new Map<number, number>();
  return (endpoint, body) => {
    const question = digestOf(canonicalJson([endpoint ?? null, body ?? null]));
    const times = (timesSent.get(question) ?? 0) + 1;
    timesSent.set(question, times);
    let hit: Fault | undefined;
    for (const [index, fault] of faults.entries()) {
      if (fault.on.endpoint !== undefined && fault.on.endpoint !== endpoint) continue;
      const nth = (matched[index] ?? 0) + 1;
      matched[index] = nth;
      hit ??= applies(fault, nth, scramble(scramble(question + times) ^ scramble(seed + index))) ? fault : undefined;
    }
    return hit;
  };
}

function applies({ on }: Fault, nth: number, drawn: number): boolean {
  if (typeof on.nth === 'number' && on.nth !== nth) return false;
  return on.rate === undefined || happens(drawn, on.rate);
}
