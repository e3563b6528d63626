/** The counters of a run: one list of their names, for the summary, the ledger and the tables that people read. */
import { type RawBuilder, sql } from 'kysely';
import type { Ops } from '../warehouse/connect/operations-db.ts';
import { isSplit } from './requests/skip-for-split.ts';

/** Every counter at 0, in the order of the summary. Items obey `received = loaded + unchanged + superseded + quarantined`. */
export const ZERO_COUNTERS = {
  /** Requests in the plan, including those that paging added. */
  planned: 0,
  /** Planned requests that a fresh stored answer serves. */
  fresh: 0,
  /** Planned requests that were sent, each counted once. */
  asked: 0,
  /** Attempts, including retries. */
  sent: 0,
  /** Answers stored and loaded. */
  answers: 0,
  received: 0,
  loaded: 0,
  /** Loaded items whose rows existed with other values. */
  changed: 0,
  unchanged: 0,
  superseded: 0,
  quarantined: 0,
  /** Inputs whose entity the service does not know, by their answer, also a stored one that serves the input. */
  missing: 0,
  /** Inputs that failed permanently. */
  failed: 0,
  /** Requests whose outcome is unknown and that stay listed. */
  inDoubt: 0,
  /** Slices that are lower bounds, including those with unreadable answers. */
  truncated: 0,
  /** Requests with unreadable answers, including those that are not sent again because of that. */
  unreadable: 0,
  /** Requests not sent when the run stopped: still planned, or skipped because their endpoint was given up. */
  left: 0,
  /** Points of the run so far: as charged in the request log if known, otherwise by the price list. */
  points: 0,
};

/** The counters of a run, including all invocations of a continued run. */
export type RunCounters = Readonly<typeof ZERO_COUNTERS>;

/** The name of a counter. */
export type RunCounter = keyof RunCounters;

/** Computes the counters of a run from the ledger and the stored answers, without those of unreadable answers. */
export async function readRunCounters(ops: Ops, runId: string): Promise<RunCounters> {
  const count = (condition: string | RawBuilder<boolean>) =>
    sql<string>`count(*) filter (where ${typeof condition === 'string' ? sql.raw(condition) : condition})`;
  const total = (column: string) => sql<string>`coalesce(sum(${sql.ref(column)}), 0)`.as(column);
  const requests = await ops
    .selectFrom('requests')
    .select([
      // Parts replace split questions in the plan.
      count(sql`not ${isSplit('requests')}`).as('planned'),
      count("state = 'fresh'").as('fresh'),
      sql<string>`coalesce(sum(attempts), 0)`.as('sent'),
      count('attempts > 0').as('asked'),
      count("state = 'failed'").as('failed'),
      count("state in ('in_doubt', 'sent')").as('inDoubt'),
      count(sql`state = 'planned' or (state = 'skipped' and not ${isSplit('requests')})`).as('left'),
      total('points'),
    ])
    .select((eb) => {
      const answer = eb.selectFrom('answers as a').select('a.id').whereRef('a.id', '=', 'requests.answer_id');
      // A stored answer that serves an input may say so too.
      const isKnown = eb.and([eb('state', '=', 'fresh'), eb.exists(answer.where('a.status', '=', '412'))]);
      return eb.fn
        .countAll<string>()
        .filterWhere(eb.or([eb('state', '=', 'missing'), isKnown]))
        .as('missing');
    })
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  // By request, since the answers of all runs would be read to find those of one.
  const answers = await ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.request_id', 'r.id')
    .select(sql<string>`count(*)`.as('answers'))
    .select(['received', 'loaded', 'changed', 'unchanged', 'superseded', 'quarantined'].map(total))
    .where('r.run_id', '=', runId)
    .executeTakeFirstOrThrow();
  const coverage = await ops
    .selectFrom('coverage')
    .select(count('reason is not null').as('truncated'))
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  return mapCounters({ ...ZERO_COUNTERS, ...requests, ...answers, ...coverage }, Number);
}

/** What counts for the share of rejects beside the counters of a run. */
export interface ReliedItems {
  /** Items of stored answers that serve requests, and inputs without an item. */
  readonly all: number;
  /** The quarantined items among them. */
  readonly rejects: number;
}

/** Totals what a run relies on without having received it, so that a day later the same data has the same share of rejects. */
export async function readReliedItems(ops: Ops, runId: string): Promise<ReliedItems> {
  const requests = ops.selectFrom('requests').where('run_id', '=', runId);
  const row = await ops
    .selectFrom('answers as a')
    .where('a.id', 'in', requests.select('answer_id').where('state', '=', 'fresh'))
    // The counters have the items of the run's own answers.
    .where('a.run_id', '<>', runId)
    .select([
      sql<string>`coalesce(sum(greatest(a.received, 1)), 0)`.as('served'),
      sql<string>`coalesce(sum(a.quarantined), 0)`.as('rejects'),
      requests
        .where('state', 'in', ['empty', 'missing'])
        .select(({ fn }) => fn.countAll<string>().as('inputs'))
        .as('without'),
    ])
    .executeTakeFirstOrThrow();
  return { all: Number(row.served) + Number(row.without), rejects: Number(row.rejects) };
}

const mapCounters = <From, To>(counters: Readonly<Record<RunCounter, From>>, convert: (value: From) => To) =>
  Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, convert(value)])) as Record<RunCounter, To>;

/** The counters that the row of a run has. */
export const counterColumns = (counters: RunCounters) => {
  const { sent: _sent, inDoubt: _inDoubt, left: _left, answers: stored, ...counts } = mapCounters(counters, String);
  return { ...counts, stored };
};
