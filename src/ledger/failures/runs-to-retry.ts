/** The runs whose failed requests a sync can send again, and whether one of these requests is still without a usable answer. */
import { sql } from 'kysely';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { RunState } from '../summary.ts';
import { requestsWithoutUsableAnswer } from './requests-without-usable-answer.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

export interface RunToRetry {
  readonly id: string;
  readonly definitionHash: string;
  readonly state: RunState;
  /** Full slices that could not be split. */
  readonly truncated: string;
}

/**
 * Returns the newest run of all inputs of a sync, and the runs of failed requests since, newest first. Runs that were given
 * up, samples and runs of given days do not count. With `hashes`, every run with one of these digests of its
 * definition counts too, and no run of failed requests with another.
 */
export async function runsToRetry(ops: Ops, sync: string, hashes?: readonly string[]): Promise<readonly RunToRetry[]> {
  const counting = ops
    .selectFrom('runs')
    .where('sync', '=', sync)
    .where('state', '<>', 'abandoned')
    .where((eb) =>
      eb.or([eb('scope', 'is', null), hashes ? eb('definition_hash', 'in', [...hashes]) : eb('scope', '=', 'failed')]),
    );
  return counting
    .select(['id', 'definition_hash as definitionHash', 'state', 'truncated'])
    .where(
      'id',
      '>=',
      counting.select(sql<string>`coalesce(max(id), 0)`.as('id')).where(sql<boolean>`scope is distinct from 'failed'`),
    )
    .orderBy('id', 'desc')
    .execute();
}

/**
 * True if the newest run of all inputs finished its plan, and the runs of failed requests since completed what it left: no
 * request failed or is in doubt, no item is in quarantine, and no slice is truncated.
 */
export async function isNothingMissing(ops: Ops, sync: string): Promise<boolean> {
  const runs = await runsToRetry(ops, sync);
  const complete = runs.at(-1);
  if (!complete || !['complete', 'partial'].includes(complete.state)) return false;
  if (runs.some(({ truncated }) => Number(truncated) > 0)) return false;
  const ids = runs.map(({ id }) => id);
  for (const id of ids)
    for await (const rows of requestsWithoutUsableAnswer(ops, id)) if (rows.length > 0) return false;
  return !(await hasQuarantined(ops, ids));
}

/** True if an item of these runs is in quarantine, and its request has no readable answer since. */
async function hasQuarantined(ops: Ops, runIds: readonly string[]): Promise<boolean> {
  const found = await ops
    .selectFrom('quarantine as q')
    .innerJoin('answers as a', 'a.id', 'q.answer_id')
    .select('a.id')
    .where('q.resolved_at', 'is', null)
    .where('a.run_id', 'in', [...runIds])
    .where((eb) =>
      notExists(
        eb
          .selectFrom('answers as n')
          .select('n.id')
          .whereRef('n.request_key', '=', 'a.request_key')
          .whereRef('n.id', '>', 'a.id')
          .where('n.unreadable', '=', false),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
