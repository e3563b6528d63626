/** Moves the watermark of the request log as far as a run has read it. */
import { type RawBuilder, sql } from 'kysely';
import type { SyncDefinition } from '../../config/definition.ts';
import { DAY_MS } from '../../day.ts';
import { isWalkGap } from '../../ledger/failures/walk-gaps.ts';
import { newestLogged } from '../../ledger/log-reads.ts';
import type { Run } from '../../ledger/runs.ts';
import { readWatermarks, writeWatermarks } from '../../ledger/watermarks.ts';
import { hasFixedTimes } from '../../plan/plan.ts';
import { microsOf } from '../../service/instant.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { logWatermark, LOG_START, LOG_WATERMARK } from '../prepare/watermarks.ts';

export interface WatermarkContext {
  readonly definition: SyncDefinition;
  readonly run: Run;
  /** The schema of the analyst tables. */
  readonly schema: string;
  readonly now: () => Date;
}

/** Moves the watermark of the log. */
export async function moveLogMark(ops: Ops, context: WatermarkContext): Promise<void> {
  const { run, definition, now } = context;
  if (hasFixedTimes(definition.request) || !(await hasReadOpenTimes(ops, run.id))) return;
  const reached = await reachedBy(ops, context);
  if (!reached) return;
  const watermarks = await readWatermarks(ops, definition.name);
  const known = logWatermark(definition, watermarks, now());
  if (reached.mayBeEarlier && (microsOf(reached.at) ?? 0n) <= (microsOf(known ?? '') ?? -1n)) return;
  const values = new Map([[LOG_WATERMARK, reached.at]]);
  if (known === undefined || !watermarks.has(LOG_START)) values.set(LOG_START, definition.from ?? '');
  await writeWatermarks(ops, definition.name, values, now());
}

interface Reached {
  readonly at: string;
  /** It may be before the earlier watermark, which then stays. */
  readonly mayBeEarlier: boolean;
}

/**
 * The log is read up to the first day that is still open, or up to the start of this run, and no further than the oldest
 * stored answer that served as a page of it. Undefined if its first request is open.
 */
async function reachedBy(ops: Ops, { run, schema }: WatermarkContext): Promise<Reached | undefined> {
  const open = await openRequests(ops, run.id);
  const servedAt = await oldestServing(ops, run.id);
  const readAt = servedAt === null ? run.startedAt : earlier(run.startedAt, servedAt);
  const upTo = open.count === 0 ? readAt : open.from;
  // A request without a start reads from the beginning of the log.
  if (upTo === null || upTo === '') return undefined;
  const certain = await certainlyRead(ops, schema, { id: run.id, startedAt: readAt });
  // The lookback begins before the watermark, so an interrupted run may end before the earlier watermark. A run that stored
  // answers served may end there too.
  return { at: earlier(earlier(upTo, readAt), certain), mayBeEarlier: open.count > 0 || servedAt !== null };
}

/**
 * The requests of the run whose pages were not all read, and the first of their starts; empty is the beginning. An answer
 * 412 reads nothing: the log may have rows of its time later.
 */
async function openRequests(
  ops: Ops,
  runId: string,
): Promise<{ readonly count: number; readonly from: string | null }> {
  const { n, from } = await ops
    .selectFrom('requests as r')
    .leftJoin('answers as a', 'a.id', 'r.answer_id')
    .select([sql<string>`count(*)`.as('n'), sql<string | null>`min(coalesce(r.body ->> 'start_time', ''))`.as('from')])
    .where('r.run_id', '=', runId)
    .where((eb) =>
      eb.or([
        eb('r.state', 'not in', ['loaded', 'empty', 'fresh']),
        eb('a.status', '=', '412'),
        eb('a.unreadable', '=', true),
        eb.exists(
          eb.selectFrom('coverage as c').select('c.id').whereRef('c.request_id', '=', 'r.id').where(isWalkGap()),
        ),
      ]),
    )
    .executeTakeFirstOrThrow();
  return { count: Number(n), from };
}

/** True if the run requested the log, and no input set the times, so that what it requested has no gap. */
async function hasReadOpenTimes(ops: Ops, runId: string): Promise<boolean> {
  const row = await ops
    .selectFrom('requests as r')
    .select(sql<boolean | null>`bool_and(not r.input ?| array['start_time', 'end_time'])`.as('isOpen'))
    .where('r.run_id', '=', runId)
    .executeTakeFirst();
  return row?.isOpen === true;
}

/** The receipt of the oldest stored answer that served a request of the run; null if none did. */
async function oldestServing(ops: Ops, runId: string): Promise<string | null> {
  const row = await ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .select(earliest(sql`a.received_at`).as('at'))
    .where('r.run_id', '=', runId)
    .where('r.state', '=', 'fresh')
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * The time before which no row can be added any more, even if clocks differ: the newest row, as the service had reached
 * that time. In a quiet log, a day before the run, since no clock is a day behind.
 */
async function certainlyRead(ops: Ops, schema: string, run: Pick<Run, 'id' | 'startedAt'>): Promise<string> {
  const dayBefore = new Date(Date.parse(run.startedAt) - DAY_MS);
  return (await newestLogged(ops, schema, run, dayBefore)) ?? dayBefore.toISOString();
}

const earlier = (a: string, b: string): string => ((microsOf(a) ?? 0n) < (microsOf(b) ?? 0n) ? a : b);

/** The earliest time of the answers to requests that did not fail. */
export const earliest = (time: RawBuilder<unknown>) =>
  sql<string | null>`to_char(min(${time}) filter (where r.state <> 'failed') at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
