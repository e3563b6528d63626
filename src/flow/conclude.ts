/** Ends a run: moves its marks, sums it up, and says what to do next. */
import { sql } from 'kysely';
import type { SyncDefinition } from '../config/definition.ts';
import { DAY_MS } from '../config/quantity.ts';
import { EXIT } from '../errors.ts';
import { lowerBoundsOf, standingBounds } from '../ops/coverage.ts';
import { isCut } from '../ops/cut.ts';
import { doubtsOf } from '../ops/doubts.ts';
import { newestLogged } from '../ops/log-readings.ts';
import { readMark, readMarks, writeMark } from '../ops/marks.ts';
import type { Ops } from '../ops/schema.ts';
import { endRun, type Run, type RunTotals, runTotals } from '../ops/runs.ts';
import type { RunState, SyncSummary } from '../ops/summary.ts';
import { dayIn } from '../service/paging.ts';
import type { RequestBody } from '../service/asked.ts';
import { canonicalJson } from '../service/identity.ts';
import { microsOf } from '../service/instant.ts';
import type { Stop } from './course.ts';
import { LOG_MARK, windowMark, type WindowMark, windowMarkName } from './prepare.ts';

export interface Conclusion {
  readonly definition: SyncDefinition;
  readonly run: Run;
  readonly covered: number;
  /** Inputs for which answers of earlier runs stand; undefined when that is not known, and any may. */
  readonly relied: readonly RequestBody[] | undefined;
  readonly stop: Stop | undefined;
  readonly aborted: boolean;
  readonly failOnTruncated: boolean;
  /** A backfill says nothing of what lies outside it, so it moves no mark. */
  readonly backfill: boolean;
  readonly startedAt: Date;
  /** Requests of runs given up by this one whose answers were lost. */
  readonly lost: readonly string[];
  /** Of the analysts' tables. */
  readonly schema: string;
  readonly now: () => Date;
}

/** Records the end of a run and returns its summary. */
export async function concludeRun(ops: Ops, it: Conclusion): Promise<SyncSummary> {
  if (!it.backfill) await moveMarks(ops, it);
  const totals = await runTotals(ops, it.run.id);
  const end = endOf(it, totals, it.failOnTruncated ? await earlierBounds(ops, it) : 0);
  const at = it.now();
  await endRun(ops, it.run.id, { ...end, at }, totals);
  return {
    sync: it.definition.name,
    endpoint: it.definition.endpoint.name,
    runId: it.run.id,
    continued: it.run.continued,
    ...totals,
    planned: totals.planned + it.covered,
    fresh: totals.fresh + it.covered,
    ...end,
    quote: it.run.quote,
    doubts: await doubtsOf(ops, it.run.id, it.lost),
    lowerBounds: await lowerBoundsOf(ops, it.run.id, SHOWN_BOUNDS),
    tookMs: at.getTime() - it.startedAt.getTime(),
  };
}

const SHOWN_BOUNDS = 20;

/** Slices of earlier runs that are lower bounds still, of inputs for which those runs stand. */
async function earlierBounds(ops: Ops, { run, relied }: Conclusion): Promise<number> {
  const inputs = relied && new Set(relied.map(canonicalJson));
  const bounds = inputs?.size === 0 ? [] : await standingBounds(ops, run.sync);
  return bounds.filter(({ runId, input }) => runId !== run.id && inputs?.has(canonicalJson(input)) !== false).length;
}

interface RunEnd {
  readonly state: RunState;
  readonly exitCode: number;
  readonly error: string | null;
  readonly next: string | null;
}

function endOf({ stop, aborted, definition, failOnTruncated }: Conclusion, totals: RunTotals, earlier: number): RunEnd {
  if (stop?.exit === EXIT.budget)
    return { state: 'out_of_points', exitCode: EXIT.budget, error: stop.because, next: stop.next };
  if (stop && stop.exit !== EXIT.rejects)
    return { state: 'interrupted', exitCode: stop.exit, error: stop.because, next: stop.next };
  if (aborted && totals.left > 0 && !stop) {
    return {
      state: 'interrupted',
      exitCode: EXIT.transient,
      error: 'stopped by a signal',
      next: 'Run the sync again; it goes on where it stopped.',
    };
  }
  if (totals.left > 0 && !stop) {
    const error = `${totals.left} requests got no answer from a service in trouble`;
    return {
      state: 'interrupted',
      exitCode: EXIT.transient,
      error,
      next: 'Run the sync again later; it goes on where it stopped.',
    };
  }
  if (totals.inDoubt > 0) {
    const again = definition.inDoubt === 'reconcile';
    return {
      // Only what is asked again keeps a run open; else it would do nothing more for a day.
      state: again ? 'interrupted' : 'partial',
      exitCode: EXIT.transient,
      error: `${totals.inDoubt} requests were sent and their answers lost`,
      next: again
        ? 'Run the sync again; it asks them again.'
        : 'They stay listed; with in_doubt: reconcile they are asked again.',
    };
  }
  const rejects = totals.quarantined + totals.failed;
  const share = rejects / Math.max(1, totals.received + totals.failed);
  // What stops a whole endpoint is never within the share that is accepted.
  if (stop || share > definition.acceptRejects) {
    const error =
      stop?.because ??
      `${rejects} of ${totals.received + totals.failed} items and inputs were rejected, more than accept.rejects allows`;
    return {
      state: 'partial',
      exitCode: EXIT.rejects,
      error,
      next: stop?.next ?? 'See them with sluice quarantine list and sluice status.',
    };
  }
  if (failOnTruncated && totals.truncated > 0) {
    const error = `${totals.truncated} answers were as long as asked and could not be cut further`;
    return {
      state: 'partial',
      exitCode: EXIT.rejects,
      error,
      next: 'Raise count, or give the sync a window or split_by.',
    };
  }
  if (failOnTruncated && earlier > 0) {
    const error = `${earlier} answers of earlier runs, which this one builds on, were as long as asked and could not be cut further`;
    return { state: 'partial', exitCode: EXIT.rejects, error, next: 'See them with sluice status.' };
  }
  return {
    state: totals.failed > 0 ? 'partial' : 'complete',
    exitCode: EXIT.complete,
    error: null,
    next: advice(totals),
  };
}

function advice(totals: RunTotals): string | null {
  if (totals.quarantined > 0) return 'See what was not understood with sluice quarantine list.';
  if (totals.truncated > 0)
    return 'More may exist than was returned: raise count, or give the sync a window or split_by.';
  return null;
}

async function moveMarks(ops: Ops, it: Conclusion): Promise<void> {
  const { paging } = it.definition.endpoint;
  if (paging.by === 'cursor') await moveLogMark(ops, it);
  if (paging.by === 'window' && paging.days && it.definition.window) await moveWindowMarks(ops, it, paging.days);
}

/** The log is read up to the first day that is still open, or up to the start of this run. */
async function moveLogMark(ops: Ops, { run, definition, schema, now }: Conclusion): Promise<void> {
  if (definition.request['start_time'] !== undefined || definition.request['end_time'] !== undefined) return;
  const open = await ops
    .selectFrom('requests')
    .select([sql<string>`count(*)`.as('n'), sql<string | null>`min(body ->> 'start_time')`.as('from')])
    .where('run_id', '=', run.id)
    .where('state', 'not in', ['loaded', 'empty', 'missing', 'fresh'])
    .executeTakeFirstOrThrow();
  const upTo = Number(open.n) === 0 ? run.startedAt : open.from;
  if (upTo === null) return;
  const mark = earlier(upTo, await surelyRead(ops, schema, run));
  // A run that was cut short began a lookback before the mark: it may have come less far than the one before.
  const before = Number(open.n) === 0 ? undefined : await readMark(ops, definition.name, LOG_MARK);
  if ((microsOf(mark) ?? 0n) > (microsOf(before ?? '') ?? -1n))
    await writeMark(ops, definition.name, LOG_MARK, mark, now());
}

/**
 * The instant before which no row can come any more, by clocks that may differ: that of the newest row, as the service
 * had come so far; in a quiet log a day before the run, as no clock is a day behind.
 */
async function surelyRead(ops: Ops, schema: string, run: Run): Promise<string> {
  const dayBefore = new Date(Date.parse(run.startedAt) - DAY_MS);
  return (await newestLogged(ops, schema, run, dayBefore)) ?? dayBefore.toISOString();
}

const earlier = (a: string, b: string): string => ((microsOf(a) ?? 0n) < (microsOf(b) ?? 0n) ? a : b);

async function moveWindowMarks(
  ops: Ops,
  it: Conclusion,
  days: { readonly to: string; readonly timeZone: string },
): Promise<void> {
  const rows = await ops
    .selectFrom('requests as r')
    .leftJoin('answers as a', 'a.id', 'r.answer_id')
    .select([
      'r.input',
      // An entity that is not known today may be tomorrow, with all its past.
      sql<boolean>`bool_and(${isCut('r')} or (r.state in ('loaded', 'empty', 'fresh') and a.status <> 412))`.as('done'),
      sql<string | null>`max(r.body ->> ${sql.lit(days.to)})`.as('to'),
      sql<string | null>`to_char(min(a.received_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`.as('as_of'),
    ])
    .where('r.run_id', '=', it.run.id)
    .groupBy('r.input')
    .execute();
  const marks = await readMarks(ops, it.definition.name);
  for (const { input, done, to, as_of: asOf } of rows) {
    if (!done || to === null || asOf === null || !it.definition.window) continue;
    const over = dayBefore(dayIn(days.timeZone, new Date(asOf)));
    const name = windowMarkName(it.definition, input);
    const before = windowMark(marks.get(name), it.definition);
    const first = it.definition.window.from;
    // The days known before reach further back, as long as none was left out in between.
    const from = before && dayBefore(first) <= before.lastCompleteDay ? before.from : first;
    const mark: WindowMark = { from, lastCompleteDay: to < over ? to : over, to, asOf };
    await writeMark(ops, it.definition.name, name, JSON.stringify(mark), it.now());
  }
}

const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
