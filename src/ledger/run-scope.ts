/** The scope of a ledger query: a run, or one chunk of a shared run. */
import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { OpsDatabase } from '../warehouse/connect/operations-db.ts';

export interface RunScope {
  readonly id: string;
  readonly chunk?: string;
}

/** A condition on requests: those of the run, or of its chunk. */
export function isInScope({ id, chunk }: RunScope): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase, 'requests'>();
  const ofRun = eb('requests.run_id', '=', id);
  return chunk === undefined ? ofRun : eb.and([ofRun, eb('requests.chunk', '=', chunk)]);
}
