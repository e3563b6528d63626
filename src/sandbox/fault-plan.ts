/** Decides which requests get a fault. */
import { canonicalJson } from '../service/canonical-json.ts';
import type { Fault } from './fault.ts';
import { digestOf, happens, scramble } from './world/draw.ts';

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
