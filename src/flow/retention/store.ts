/** Retention: removes bytes of old answers that nothing needs, and keeps their accounting. */
import { sql } from 'kysely';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import { deletedLogReads } from '../../ledger/log-reads.ts';
import { OPEN_STATES } from '../../ledger/runs.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** Answers whose bodies were removed, with the receipt times of the first and the last. */
export interface GoneBodies {
  readonly answers: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the answers of these syncs, or of all, that cannot be loaded again; null if there are none. Erased bodies do
 * not count, since they held no rows; nor do log reads whose rows no replay loads.
 */
export async function goneBodies(
  ops: Ops,
  {
    names,
    quarantined,
    until,
  }: { readonly names: readonly string[]; readonly quarantined: boolean; readonly until?: Date | undefined },
): Promise<GoneBodies | null> {
  const row = await ops
    .selectFrom('answers as a')
    .select(sql<string>`count(*)`.as('answers'))
    .select(sql<Date | null>`min(a.received_at)`.as('from'))
    .select(sql<Date | null>`max(a.received_at)`.as('to'))
    .where('a.pruned_at', 'is not', null)
    .where('a.run_id', 'not in', deletedLogReads(ops, until))
    .$if(names.length > 0, (all) => all.where('a.sync', 'in', [...names]))
    .$if(until !== undefined, (all) => all.where('a.received_at', '<=', until as Date))
    .$if(quarantined, (all) =>
      all.where('a.id', 'in', ops.selectFrom('quarantine').select('answer_id').where('resolved_at', 'is', null)),
    )
    .executeTakeFirst();
  if (!row?.from || !row.to) return null;
  return { answers: Number(row.answers), from: row.from.toISOString(), to: row.to.toISOString() };
}

/** Which old answers of an endpoint keep their bodies. */
export interface RetentionRule {
  readonly endpoint: string;
  /** Bodies received since are still within some sync's `max_age`. */
  readonly since: Date;
  /** Inputs may set their own `max_age`, so the newest answer to each request is kept. */
  readonly newest: boolean;
}

export interface PruneLimits {
  /** Answers received before this time are old. */
  readonly before: Date;
  readonly rules: readonly RetentionRule[];
  /** Also bodies of answers with quarantined items. */
  readonly quarantined: boolean;
}

/** What retention removed, or would remove. */
export interface PrunedCounts {
  /** Answers whose bodies and headers were removed; their rows stay. */
  readonly answers: number;
  /** Stored (compressed) size of these bodies, in bytes. */
  readonly bytes: number;
}

/**
 * Answers whose bodies retention may remove: loaded, old, beyond every `max_age`, without open quarantine entries, and
 * not used by a run that can still be continued.
 */
const prunable = (ops: Ops, { before, rules: kept, quarantined }: PruneLimits) => {
  const rules = rowsFrom(kept, {
    endpoint: ['text', ({ endpoint }) => endpoint],
    since: ['timestamptz', ({ since }) => since],
    newest: ['boolean', ({ newest }) => newest],
  });
  return ops
    .selectFrom('answers as a')
    .where('a.body', 'is not', null)
    .where('a.loaded_at', 'is not', null)
    .where('a.received_at', '<', sql<Date>`${before.toISOString()}::timestamptz`)
    .where(sql<boolean>`not exists (select from ${rules} k where k.endpoint = a.endpoint and a.received_at >= k.since)`)
    .where((eb) =>
      eb.not(
        eb.and([
          sql<boolean>`exists (select from ${rules} k where k.endpoint = a.endpoint and k.newest)`,
          notExists(
            eb
              .selectFrom('answers as n')
              .select('n.id')
              .whereRef('n.request_key', '=', 'a.request_key')
              .whereRef('n.received_at', '>', 'a.received_at'),
          ),
        ]),
      ),
    )
    .where((eb) =>
      eb(
        'a.id',
        'not in',
        eb
          .selectFrom('runs as u')
          .innerJoin('requests as r', 'r.run_id', 'u.id')
          .select(sql<string>`r.answer_id`.as('id'))
          .where('u.state', 'in', [...OPEN_STATES])
          .where('r.answer_id', 'is not', null),
      ),
    )
    .$if(!quarantined, (all) =>
      all.where((eb) =>
        notExists(
          eb
            .selectFrom('quarantine as q')
            .select('q.id')
            .whereRef('q.answer_id', '=', 'a.id')
            .where('q.resolved_at', 'is', null),
        ),
      ),
    );
};

/** Returns how many bodies retention would remove, and their stored size. */
export async function countPrunable(ops: Ops, limits: PruneLimits): Promise<PrunedCounts> {
  return prunable(ops, limits)
    .select(sql<number>`count(*)::int`.as('answers'))
    .select(sql<number>`coalesce(sum(octet_length(a.body)), 0)::float8`.as('bytes'))
    .executeTakeFirstOrThrow();
}

/** The end of one batch, where the next one continues. */
export interface PruneBatch {
  /** The last row of the batch; undefined if the batch was empty. */
  readonly last: string | undefined;
}

/** A batch of `limit` rows after this row. */
export interface BatchAfter {
  readonly after: string;
  readonly limit: number;
}

/** The service may log the request under this identifier, and a later reading of the log looks for it. */
const NEEDED_HEADERS = sql<string>`jsonb_strip_nulls(jsonb_build_object('x-request-id', answers.headers -> 'x-request-id'))`;

/** Removes the bodies and the other headers of the next batch of old answers. */
export async function pruneSome(
  ops: Ops,
  limits: PruneLimits,
  batch: BatchAfter,
  at: Date,
): Promise<PrunedCounts & PruneBatch> {
  const rows = await ops
    .with('due', () =>
      prunable(ops, limits)
        .select(['a.id', sql<string>`octet_length(a.body)`.as('size')])
        .where('a.id', '>', batch.after)
        .orderBy('a.id')
        .limit(batch.limit),
    )
    .updateTable('answers')
    .from('due')
    .set({ body: null, headers: NEEDED_HEADERS, pruned_at: at.toISOString() })
    .whereRef('answers.id', '=', 'due.id')
    .returning(['due.id', 'due.size'])
    .execute();
  return { answers: rows.length, bytes: rows.reduce((sum, { size }) => sum + Number(size), 0), last: lastOf(rows) };
}

const lastOf = (rows: readonly { readonly id: string }[]): string | undefined =>
  rows
    .map(({ id }) => id)
    .toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
    .at(-1);

/**
 * Requests of ended runs that no total counts: never sent, so that they cost nothing and have no row in the log; not
 * the last outcome of their question; without follow-up requests. With `due`, those that have no more use once the
 * bodies that these limits allow to remove are gone.
 */
function spentRequests(ops: Ops, before: Date, due?: PruneLimits) {
  const removable = due && prunable(ops, due).select('a.id');
  return ops
    .selectFrom('requests as r')
    .where('r.state', 'in', ['fresh', 'abandoned'])
    .where('r.attempts', '=', '0')
    .where('r.planned_at', '<', sql<Date>`${before.toISOString()}::timestamptz`)
    .where((eb) =>
      eb.and([
        notExists(eb.selectFrom('answers as a').select('a.id').whereRef('a.request_id', '=', 'r.id')),
        notExists(eb.selectFrom('requests as c').select('c.id').whereRef('c.parent_id', '=', 'r.id')),
        notExists(eb.selectFrom('coverage as s').select('s.id').whereRef('s.request_id', '=', 'r.id')),
        notExists(eb.selectFrom('lost_answers as d').select('d.attempt').whereRef('d.request_id', '=', 'r.id')),
        eb.exists(
          eb
            .selectFrom('requests as n')
            .select('n.id')
            .whereRef('n.sync', '=', 'r.sync')
            .whereRef('n.request_key', '=', 'r.request_key')
            .whereRef('n.id', '>', 'r.id')
            // An outcome that replaces the one of a fresh request.
            .where((it) =>
              it.or([
                it('r.state', '=', 'abandoned'),
                it.and([
                  it('n.state', 'not in', ['planned', 'sent', 'in_doubt', 'abandoned']),
                  it.or([it('n.state', '<>', 'skipped'), it('n.attempts', '>', '0')]),
                ]),
              ]),
            ),
        ),
        eb.exists(
          eb
            .selectFrom('runs as u')
            .select('u.id')
            .whereRef('u.id', '=', 'r.run_id')
            .where('u.state', 'not in', [...OPEN_STATES]),
        ),
        // Replays fill the bridges of the sync that the answer served, as long as its body exists.
        notExists(
          eb
            .selectFrom('answers as b')
            .select('b.id')
            .whereRef('b.id', '=', 'r.answer_id')
            .where('b.body', 'is not', null)
            .where((it) => (removable ? it('b.id', 'not in', removable) : it.lit(true))),
        ),
      ]),
    );
}

/** Returns how many rows of the ledger retention would delete after it removed bodies. */
export async function countSpentRequests(ops: Ops, limits: PruneLimits): Promise<number> {
  const row = await spentRequests(ops, limits.before, limits)
    .select(sql<string>`count(*)`.as('rows'))
    .executeTakeFirstOrThrow();
  return Number(row.rows);
}

/** Deletes the next batch of these requests; returns how many. */
export async function deleteSpentRequests(
  ops: Ops,
  before: Date,
  batch: BatchAfter,
): Promise<{ readonly requests: number } & PruneBatch> {
  const rows = await ops
    .deleteFrom('requests')
    .where(
      'id',
      'in',
      spentRequests(ops, before).select('r.id').where('r.id', '>', batch.after).orderBy('r.id').limit(batch.limit),
    )
    .returning('id')
    .execute();
  return { requests: rows.length, last: lastOf(rows) };
}
