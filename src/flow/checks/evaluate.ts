/** Evaluates one check: what it found, what is allowed, and whether that fits. */
import type { CheckRule } from '../../config/checks.ts';
import { newestDataAt, receivedBefore } from '../../ledger/checks/check-facts.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { countRows } from '../../warehouse/connect/query.ts';
import { refreshHash } from '../prepare/plan-hash.ts';
import { earlierBounds } from '../run/earlier-bounds.ts';
import type { FinishedRun } from '../run/finished-run.ts';
import type { UnreadableSum } from '../../ledger/failures/unreadable-answers.ts';
import type { RunCounters } from '../../ledger/run-counters.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { readNulls } from './nulls.ts';
import { type Finding, percent, judgeRows } from './rows.ts';

/** A run to check, with what the ledger counted. */
export interface CheckedRun extends FinishedRun {
  readonly warehouse: Warehouse;
  readonly counters: RunCounters;
  readonly unread: UnreadableSum;
  readonly now: Date;
  /** Stops a check that takes long. */
  readonly signal: AbortSignal;
}

/** A statement of a user may take this long on a server. */
const TIMEOUT_MS = 60_000;
/** Earlier runs whose median is compared. */
const MOST_RUNS = 20;
const HOUR_MS = 3_600_000;

const hours = (ms: number): string => {
  const count = Math.round(ms / (HOUR_MS / 10)) / 10;
  return count === 1 ? '1 hour' : `${count} hours`;
};

/** What a rule allows, in words, as far as it depends on no data. */
export function allowedBy(rule: CheckRule): string {
  switch (rule.kind) {
    case 'sql':
      return 'no rows';
    case 'rows':
      return judgeRows(rule, 0, []).allowed;
    case 'fresh':
      return `at most ${hours(rule.maxAgeMs)}`;
    case 'complete':
      return 'nothing truncated, unreadable, failed or missing';
    case 'nulls':
      return `at most ${percent(rule.max)}`;
    case 'cost':
      return `at most ${rule.perRow} for each new or changed row`;
  }
}

/** Evaluates a rule for a run. */
export async function evaluate(run: CheckedRun, rule: CheckRule): Promise<Finding> {
  const { warehouse, definition, counters, signal, now } = run;
  const ops = operationsOf(warehouse);
  const allowed = allowedBy(rule);
  switch (rule.kind) {
    case 'sql': {
      const found = await countRows(warehouse, rule.sql, { timeoutMs: TIMEOUT_MS, signal });
      return { isPassed: found === 0, found, allowed, message: found === 1 ? '1 row' : `${found} rows` };
    }
    case 'rows': {
      const hashes = [definition.hash, refreshHash(definition, {})];
      const earlier = rule.drop === undefined ? [] : await receivedBefore(ops, run.run, hashes, MOST_RUNS);
      return judgeRows(rule, counters.received, earlier);
    }
    case 'fresh': {
      const newest = await newestDataAt(ops, run.run, now);
      if (!newest) return { isPassed: false, found: null, allowed, message: 'no answer was loaded' };
      const ageMs = Math.max(0, now.getTime() - newest.getTime());
      const message = `the newest loaded answer is ${hours(ageMs)} old`;
      return { isPassed: ageMs <= rule.maxAgeMs, found: Math.round(ageMs / 1000), allowed, message };
    }
    case 'complete':
      return { allowed, ...(await readGaps(run)) };
    case 'nulls': {
      const { rows, nulls } = await readNulls(warehouse, definition.name, rule);
      if (rows === 0) return { isPassed: true, found: null, allowed, message: 'no rows' };
      const found = nulls / rows;
      const message = `${nulls} of ${rows} rows have no ${rule.column} (${percent(found)})`;
      return { isPassed: found <= rule.max, found, allowed, message };
    }
    case 'cost':
      return { allowed, ...judgeCost(rule.perRow, counters) };
  }
}

/** The points for each new or changed row of the run. */
function judgeCost(perRow: number, { points, loaded }: CheckedRun['counters']): Omit<Finding, 'allowed'> {
  const found = loaded > 0 ? points / loaded : points > 0 ? null : 0;
  const message = `${points} ${points === 1 ? 'point' : 'points'} for ${loaded} new or changed ${loaded === 1 ? 'row' : 'rows'}`;
  return { isPassed: found !== null && found <= perRow, found, message };
}

/** What the run, and earlier runs on which it relies, did not get. */
async function readGaps(run: CheckedRun): Promise<Omit<Finding, 'allowed'>> {
  const { counters, unread, warehouse } = run;
  const ops = operationsOf(warehouse);
  const gaps = {
    // An unreadable slice is truncated too, and an unreadable request that is not sent again failed.
    truncated: counters.truncated - Math.min(counters.truncated, unread.requests) + (await earlierBounds(ops, run)),
    unreadable: unread.requests,
    failed: counters.failed - unread.failing,
    missing: counters.missing,
    'not sent': counters.left,
  };
  const found = Object.values(gaps).reduce((sum, count) => sum + count, 0);
  const named = Object.entries(gaps).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  return { isPassed: found === 0, found, message: found === 0 ? 'complete' : named.join(', ') };
}
