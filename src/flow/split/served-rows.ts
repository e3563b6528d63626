/** The rows of the ledger that answers serve. */
import type { RunContext } from '../run/run-context.ts';
import type { Selectable } from 'kysely';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import type { IngestResult } from '../ingest/ingest.ts';

/** The ledger's row, in this run, that an answer was loaded for. */
export interface Row
  extends Pick<Selectable<OpsDatabase['requests']>, 'id' | 'parent_id' | 'sent_body' | 'input' | 'depth'> {
  /** An earlier invocation planned the follow-up requests. */
  readonly has_parts: unknown;
}

export const servedBy = ({ answer, identity }: Pick<IngestResult, 'answer' | 'identity'>): string =>
  `${answer.id} ${identity.requestKey}`;

/** Returns the rows that answers were loaded for, by `servedBy`; an answer of an abandoned run serves none. */
export async function rowsServed(
  context: RunContext,
  ops: Ops,
  results: readonly IngestResult[],
): Promise<ReadonlyMap<string, Row>> {
  const source = rowsFrom(results, {
    answer_id: ['bigint', ({ answer }) => answer.id],
    request_key: ['text', ({ identity }) => identity.requestKey],
    run: ['bigint', () => context.run.id],
  });
  const rows = await ops
    .selectFrom(source.as('t'))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('requests')
          .select(['id', 'parent_id', 'sent_body', 'input', 'depth'])
          .select((own) =>
            own
              .exists(own.selectFrom('requests as p').select('p.id').whereRef('p.parent_id', '=', 'requests.id'))
              .as('has_parts'),
          )
          // A literal run id without statistics would make the planner expect one or two rows and read them all.
          .whereRef('run_id', '=', 't.run')
          .whereRef('request_key', '=', 't.request_key')
          .whereRef('answer_id', '=', 't.answer_id')
          // `offset 0` is a fence: each row is looked up by its key, whatever the statistics.
          .offset(0)
          .as('r'),
      (join) => join.onTrue(),
    )
    .selectAll()
    .execute();
  return new Map(rows.map(({ answer_id: id, request_key: key, ...row }) => [`${id} ${key}`, row]));
}
