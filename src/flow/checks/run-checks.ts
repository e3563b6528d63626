/** Runs the checks of a sync after the load of a run, before the run is concluded, and records their results. */
import type { CheckDefinition } from '../../config/checks.ts';
import { type CheckResult, recordCheckResults } from '../../ledger/checks/check-results.ts';
import { recordFullAnswersWithFailedParts } from '../../ledger/failures/full-answers-with-failed-parts.ts';
import { unreadableSum } from '../../ledger/failures/unreadable-answers.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { type RunCounters, readRunCounters } from '../../ledger/run-counters.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { FinishedRun } from '../run/finished-run.ts';
import { recordFormerSlices } from '../split/former-slices.ts';
import { withoutLeftOutParts } from '../split/left-out-parts.ts';
import type { Invocation } from '../run/invocation.ts';
import { allowedBy, evaluate, type CheckedRun } from './evaluate.ts';
import { errorCode } from '../../warehouse/sql/sql-states.ts';

/** A run to check, and the lease under which its results are recorded. */
interface RunToCheck extends FinishedRun {
  readonly lease: Lease;
  /** Stops a check that takes long. */
  readonly signal: AbortSignal;
}

/**
 * The results of the sync's checks; empty if it has none. A check that cannot run has a result with its error. Throws a
 * HeldError if the lease was lost.
 */
export async function runChecks(
  { warehouse, effects }: Pick<Invocation, 'warehouse' | 'effects'>,
  ended: RunToCheck,
): Promise<readonly CheckResult[]> {
  const { definition, run, lease, signal } = ended;
  const { checks = [] } = definition;
  if (checks.length === 0) return [];
  const ops = operationsOf(warehouse);
  const withoutLeftOut = withoutLeftOutParts(ops, ended, effects.now());
  await retryTransient(() => recordFullAnswersWithFailedParts(ops, run, withoutLeftOut), effects);
  await retryTransient(() => recordFormerSlices(ops, ended), effects);
  const read = async () => ({ counters: await readRunCounters(ops, run.id), unread: await unreadableSum(ops, run.id) });
  const facts = await retryTransient(read, effects);
  const checked = { ...ended, ...facts, warehouse, now: effects.now() };
  const results: CheckResult[] = [];
  for (const check of checks) {
    const because = reasonToSkip(ended, facts.counters, check) ?? (signal.aborted ? SIGNAL : undefined);
    const work = () => resultOf(checked, check);
    results.push(
      because === undefined
        ? await retryTransient(work, effects).catch(withError(check, signal))
        : skipped(check, because),
    );
  }
  const record = async (tx: Ops): Promise<void> => {
    await assertLease(tx, lease);
    await recordCheckResults(tx, run, results, effects.now());
  };
  await retryTransaction(ops, record, effects);
  return results;
}

const SIGNAL = 'not run: stopped by a signal';

/** Why a check must not judge the run; undefined if it may. A check of incomplete data would prove nothing. */
function reasonToSkip(
  { stop, limit, isPart, covered }: FinishedRun,
  { left, inDoubt, fresh }: RunCounters,
  { rule: { kind } }: CheckDefinition,
): string | undefined {
  if (limit) return 'not run: the run is a sample (--limit)';
  // An error that concerns the complete endpoint ends the run for good, with exit 4.
  const isStopped = stop ? stop.reason !== 'endpoint-refused' : left > 0;
  if (isStopped || inDoubt > 0) return 'not run: the run did not finish its plan';
  if (isPart && (kind === 'rows' || kind === 'complete')) return 'not run: the run requested only a part of the sync';
  if (kind === 'rows' && fresh + covered > 0) return 'not run: stored answers served inputs of the run';
  return undefined;
}

const about = ({ name, severity, rule }: CheckDefinition) => ({
  name,
  severity,
  kind: rule.kind,
  allowed: allowedBy(rule),
});

const skipped = (check: CheckDefinition, because: string): CheckResult => ({
  ...about(check),
  status: 'skipped',
  found: null,
  message: because,
});

async function resultOf(run: CheckedRun, check: CheckDefinition): Promise<CheckResult> {
  const { isPassed, ...found } = await evaluate(run, check.rule);
  return { ...about(check), status: isPassed ? 'pass' : 'fail', ...found };
}

/** The text of an error, without the value that a data exception of the database quotes: it may be that of a person. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = errorCode(error) ?? errorCode(error.cause);
  return code?.startsWith('22') === true ? error.message.replace(/".*"/s, '"…"') : error.message;
}

/** The result of a check that threw. Whatever it threw, the loaded rows and the end of the run do not depend on it. */
const withError =
  (check: CheckDefinition, signal: AbortSignal) =>
  (error: unknown): CheckResult =>
    signal.aborted
      ? skipped(check, SIGNAL)
      : {
          ...about(check),
          status: 'error',
          found: null,
          message: textOf(error),
        };
