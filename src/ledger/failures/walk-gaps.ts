/** Gaps of walks through the request log: pages after which a walk ended before it had read all rows. */
import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { filtersText } from '../../text/filters.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** A condition on a slice `c` of the log: no page follows it, although its walk did not reach the end. */
export function isWalkGap(): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase & { c: OpsDatabase['coverage'] }, 'c'>();
  const next = eb.selectFrom('requests as p').select('p.id').whereRef('p.parent_id', '=', 'c.request_id');
  return eb.and([eb('c.reason', 'is not', null), notExists(next)]);
}

/** Names the first gaps of a run after readable pages, as many as fit a line; undefined if there are none. */
export async function walkGapsText(ops: Ops, runId: string): Promise<string | undefined> {
  const rows = await ops
    .selectFrom('coverage as c')
    .select(['c.filters', 'c.reason'])
    .where('c.run_id', '=', runId)
    .where('c.unreadable', '=', false)
    .where(isWalkGap())
    .orderBy('c.id')
    .limit(NAMED + 1)
    .execute();
  if (rows.length === 0) return undefined;
  const shown = rows.slice(0, NAMED).map(({ filters, reason }) => `${filtersText(filters)}: ${reason ?? ''}`);
  return `the log was not read to its end: ${shown.join('; ')}${rows.length > NAMED ? '; and more' : ''}`;
}

const NAMED = 3;

/**
 * Removes the gaps of a sync's earlier walks of the log whose range is inside the range of this run's walks. Call it
 * after the run read all its pages.
 */
export async function removeReadGaps(ops: Ops, sync: string, runId: string): Promise<void> {
  const walked = ops
    .selectFrom('requests as r')
    .select(sql`range_agg(${timesOf('r.body')})`.as('times'))
    .where('r.run_id', '=', runId)
    .where('r.parent_id', 'is', null);
  await ops
    .deleteFrom('coverage as c')
    .where('c.sync', '=', sync)
    .where('c.run_id', '<', runId)
    .where(isWalkGap())
    .where(sql<boolean>`${timesOf('c.filters')} <@ (${walked})`)
    .execute();
}

/** The range of a request of the log, without limits that are absent; empty if it ends before its start. */
const timesOf = (body: string) => {
  const start = sql`coalesce((${sql.ref(body)} ->> 'start_time')::timestamptz, '-infinity')`;
  const end = sql`coalesce((${sql.ref(body)} ->> 'end_time')::timestamptz, 'infinity')`;
  return sql`tstzrange(least(${start}, ${end}), ${end})`;
};
