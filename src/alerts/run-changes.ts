/** Decides which alerts about a change of the service are active: its contract, prices, access and numbers. Pure. */
import type { EndedSync } from './conditions.ts';
import type { ChargedCall, InputCounts, RunFacts } from './run-facts.ts';
import type { AlertCondition } from './store.ts';

type Change = Omit<AlertCondition, 'sync' | 'runId' | 'next'> & { readonly next?: string | undefined };

/** The conditions of a run. Facts that a run does not show change nothing. */
export function changeConditions(
  ended: Pick<EndedSync, 'exitCode' | 'error' | 'next'>,
  facts: RunFacts,
  calls: readonly ChargedCall[],
): AlertCondition[] {
  const { sync, runId } = facts;
  const changes = [
    contractChange(facts),
    accessChange(ended, facts),
    countsChange(facts),
    priceChange(sync, calls),
  ].flatMap((it) => it ?? []);
  return changes.map(({ next = null, ...it }) => ({ ...it, sync, runId, next: it.isRaised ? next : null }));
}

const SHOWN = 5;

function contractChange({ newDrift }: RunFacts): Change | undefined {
  if (!newDrift) return undefined;
  const shown = newDrift
    .slice(0, SHOWN)
    .map(({ path, kind, count }) => `${path}: ${kind}, ${count === 1 ? 'once' : `${count} times`}`);
  const more = newDrift.length > SHOWN ? `; and ${newDrift.length - SHOWN} more` : '';
  return newDrift.length === 0
    ? { kind: 'contract', isRaised: false, because: 'no new difference from the contract' }
    : {
        kind: 'contract',
        isRaised: true,
        because: `answers differ from the contract in a way that no earlier answer did: ${shown.join('; ')}${more}`,
        next: 'List all differences with sluice status; unknown fields are kept in extra.',
      };
}

/** The exit code of a refused token. */
const CREDENTIAL = 3;

function accessChange(
  { exitCode, error, next }: Pick<EndedSync, 'exitCode' | 'error' | 'next'>,
  { refused, answered, answeredAgain, answeredBefore }: RunFacts,
): Change | undefined {
  const isRefused = exitCode === CREDENTIAL || (refused > 0 && answered === 0);
  if (!isRefused)
    return answeredAgain > 0 ? { kind: 'access', isRaised: false, because: 'the service answers again' } : undefined;
  const last = answeredBefore ? `it last answered at ${answeredBefore.toISOString()}` : 'it never answered';
  const reason = error === null ? '' : ` (${error})`;
  return {
    kind: 'access',
    isRaised: true,
    because:
      answered > 0
        ? `the service refused the token, after answers to ${answered} of the requests of the run${reason}`
        : `the service refused every request of the run${reason}; ${last}`,
    next: next ?? 'Check that the token is valid and what its plan includes, then run the sync again.',
  };
}

/** With fewer inputs, a share says too little. */
const FEWEST_INPUTS = 10;
/** With fewer earlier runs, the fixed limit holds. */
const FEWEST_RUNS = 3;
const LIMIT = 0.5;
/** How far a share may be above the usual one. */
const ABOVE = 0.3;

function countsChange({ sync, inputs, earlier }: RunFacts): Change | undefined {
  if (!inputs || inputs.inputs < FEWEST_INPUTS) return undefined;
  const known = earlier.filter((it) => it.inputs >= FEWEST_INPUTS);
  const usual = known.length < FEWEST_RUNS ? undefined : medianOf(known.map(shareOf));
  const found = `${inputs.without} of ${inputs.inputs} inputs are missing or empty (${percent(shareOf(inputs))})`;
  const limit =
    usual === undefined
      ? `without ${FEWEST_RUNS} earlier runs, more than ${percent(LIMIT)} is unusual`
      : `usual is ${percent(usual)}, the median of ${known.length} earlier runs`;
  return {
    kind: 'counts',
    isRaised: shareOf(inputs) > (usual === undefined ? LIMIT : usual + ABOVE),
    because: `${found}; ${limit}`,
    next: `List them with sluice query "select input_value, outcome from sync_inputs where sync = '${sync}' and outcome in ('missing', 'empty')".`,
  };
}

const shareOf = ({ inputs, without }: InputCounts): number => without / inputs;
const percent = (share: number): string => `${Math.round(share * 100)}%`;

/** Calls in a row that show a new price, and earlier calls that show the usual one. */
const FEWEST_CALLS = 3;

function priceChange(sync: string, calls: readonly ChargedCall[]): Change | undefined {
  const sizes = [...Map.groupBy(calls, ({ size }) => size).values()]
    .map((group) => group.map(({ points }) => points))
    .filter((points) => points.length >= 2 * FEWEST_CALLS);
  if (sizes.length === 0) return undefined;
  for (const points of sizes) {
    const newest = points.slice(0, FEWEST_CALLS);
    const [now = 0] = newest;
    const usual = modeOf(points.slice(FEWEST_CALLS));
    if (usual === now || newest.some((it) => it !== now)) continue;
    return {
      kind: 'price',
      isRaised: true,
      because: `a call of ${sync} costs ${now} points; calls of the same size usually cost ${usual}, by ${points.length - FEWEST_CALLS} earlier calls`,
      next: 'Check the budget with sluice costs, and the cost of the next run with sluice plan.',
    };
  }
  return { kind: 'price', isRaised: false, because: 'calls cost what they usually cost' };
}

/** The most frequent value; of equally frequent ones the newest. */
function modeOf(values: readonly number[]): number | undefined {
  const counts = [...Map.groupBy(values, (it) => it)].toSorted(([, a], [, b]) => b.length - a.length);
  return counts[0]?.[0];
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
