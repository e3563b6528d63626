/** Removes records of unknown fields: of fields that are declared since, or whose names are those of a forgotten person. */
import type { DriftKind } from '../../normalize/batch.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';

const UNKNOWN_FIELD: DriftKind = 'unknown field';

/** Deletes the records of the fields that pass the test, and returns their number. */
export async function removeUnknownFields(
  ops: Ops,
  isRemoved: (resource: string, path: readonly string[]) => boolean,
): Promise<number> {
  const rows = await ops.selectFrom('drift').select(['resource', 'path']).where('kind', '=', UNKNOWN_FIELD).execute();
  const removed = rows.filter(({ resource, path }) => isRemoved(resource, path.split('.')));
  for (const { resource, path } of removed)
    await ops
      .deleteFrom('drift')
      .where('resource', '=', resource)
      .where('path', '=', path)
      .where('kind', '=', UNKNOWN_FIELD)
      .execute();
  return removed.length;
}
