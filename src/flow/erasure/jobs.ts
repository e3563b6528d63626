/** Removes an entity from the reasons why jobs failed or were given up: the texts that the queues keep. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { cleaned } from '../../normalize/erasure/clean.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { parseExact } from '../../service/exact-json.ts';
import { jobsSchema } from '../../warehouse/schema/jobs-schema.ts';
import { relationExists } from '../../warehouse/sql/relation-exists.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { TouchedRows } from './tables.ts';
import type { ErasureSearch } from './target.ts';

const JOB = 'job';

/** Removes the names from these texts. The rest of a job, such as the name of its sync, stays. */
export async function eraseFromJobs(
  db: QueryExecutorProvider,
  { schema }: Pick<Warehouse, 'schema'>,
  { forgotten }: ErasureSearch,
  touched: TouchedRows,
): Promise<void> {
  const jobs = jobsSchema(schema);
  // A warehouse has queues once an engine ran on it.
  if (!(await relationExists(db, jobs, JOB))) return;
  const { rows } = await sql<{ queue: string; id: string; texts: string }>`
    select name as queue, id::text, jsonb_build_object(
      'data', jsonb_build_object('because', data -> 'because', 'next', data -> 'next'), 'output', output
    )::text as texts
    from ${sql.id(jobs, JOB)} where data ->> 'because' is not null or output is not null`.execute(db);
  for (const { queue, id, texts } of rows) {
    const before = parseExact(texts);
    const after = cleaned(before, { forgotten });
    if (after === before) continue;
    // The table is partitioned by queue.
    await sql`
      update ${sql.id(jobs, JOB)} j set data = j.data || jsonb_strip_nulls(n.texts -> 'data'), output = nullif(n.texts -> 'output', 'null')
      from (select ${canonicalJson(after)}::text::jsonb as texts) n
      where j.name = ${queue} and j.id = ${id}::uuid`.execute(db);
    touched.note(JOB, 1);
  }
}
