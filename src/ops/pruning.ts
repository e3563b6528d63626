/** Retention: drops the bytes of answers that are old and needed by nothing, and keeps what accounts for them. */
import { sql } from 'kysely';
import type { Ops } from './schema.ts';

/** Answers whose bodies were dropped, and when the first and the last of them came. */
export interface GoneBodies {
  readonly answers: number;
  readonly from: string;
  readonly to: string;
}

/** What can't be loaded again of these syncs, or of all; null when nothing is gone. Erased bodies held no rows. */
export async function goneBodies(
  ops: Ops,
  { names, quarantined }: { readonly names: readonly string[]; readonly quarantined: boolean },
): Promise<GoneBodies | null> {
  const row = await ops
    .selectFrom('answers as a')
    .select(sql<string>`count(*)`.as('answers'))
    .select(sql<Date | null>`min(a.received_at)`.as('from'))
    .select(sql<Date | null>`max(a.received_at)`.as('to'))
    .where('a.pruned_at', 'is not', null)
    .$if(names.length > 0, (all) => all.where('a.sync', 'in', [...names]))
    .$if(quarantined, (all) =>
      all.where('a.id', 'in', ops.selectFrom('quarantine').select('answer_id').where('resolved_at', 'is', null)),
    )
    .executeTakeFirst();
  if (!row?.from || !row.to) return null;
  return { answers: Number(row.answers), from: row.from.toISOString(), to: row.to.toISOString() };
}
