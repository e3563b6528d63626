/** Decides which fault befalls which request. */
import { canonicalJson } from '../service/canonical-json.ts';
import type { Fault } from './fault.ts';
import { digestOf, happens, scramble } from './world/draw.ts';

/** The fault that a request of this endpoint meets, or undefined: the first in the script that befalls it. */
export type FaultPlan = (endpoint: string | undefined, body: unknown) => Fault | undefined;

/**
 * A plan for a script of faults. Rates go by what is asked and how often it was asked before, not by when it arrives:
 * so requests that race each other meet the same faults in every run of a seed.
 */
export function faultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const matched = faults.map(() => 0);
  const asked = new Map<number, number>();
  return (endpoint, body) => {
    const question = digestOf(canonicalJson([endpoint ?? null, body ?? null]));
    const times = (asked.get(question) ?? 0) + 1;
    asked.set(question, times);
    let hit: Fault | undefined;
    for (const [at, fault] of faults.entries()) {
      if (fault.on.endpoint !== undefined && fault.on.endpoint !== endpoint) continue;
      const nth = (matched[at] ?? 0) + 1;
      matched[at] = nth;
      hit ??= befalls(fault, nth, scramble(scramble(question + times) ^ scramble(seed + at))) ? fault : undefined;
    }
    return hit;
  };
}

function befalls({ on }: Fault, nth: number, drawn: number): boolean {
  if (typeof on.nth === 'number' && on.nth !== nth) return false;
  return on.rate === undefined || happens(drawn, on.rate);
}
