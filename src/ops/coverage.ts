/** What was asked of a search, slice by slice, and whether the answer was all there is. */
import { sql } from 'kysely';
import type { RequestBody } from '../service/asked.ts';
import { canonicalJson } from '../service/identity.ts';
import type { Ops } from './schema.ts';

export interface Slice {
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly requestKey: string;
  /** The request without its `count`. */
  readonly filters: RequestBody;
  readonly asked: number | undefined;
  readonly returned: number;
  readonly depth: number;
  /** The answer held all there was when it was asked. */
  readonly complete: boolean;
  /** Why more may exist than was returned, when nothing more can be asked. */
  readonly lowerBound: string | undefined;
  readonly asOf: string;
}

/** Records one slice; asked again, it replaces what the same request said before. */
export async function recordSlice(ops: Ops, slice: Slice): Promise<void> {
  await ops.deleteFrom('coverage').where('request_id', '=', slice.requestId).execute();
  await ops
    .insertInto('coverage')
    .values({
      request_id: slice.requestId,
      run_id: slice.runId,
      sync: slice.sync,
      endpoint: slice.endpoint,
      request_key: slice.requestKey,
      filters: sql`${canonicalJson(slice.filters)}::jsonb`,
      asked: slice.asked === undefined ? null : String(slice.asked),
      returned: String(slice.returned),
      depth: String(slice.depth),
      complete: slice.complete,
      reason: slice.lowerBound ?? null,
      as_of: slice.asOf,
    })
    .execute();
}
