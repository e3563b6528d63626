/** Removes an entity from the records of unknown fields: a field can have the name of a person, as in an index of people. */
import { cleanText } from '../../normalize/erasure/clean.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { removeUnknownFields } from '../fill/remove-unknown-fields.ts';
import type { TouchedRows } from './tables.ts';
import type { ErasureSearch } from './target.ts';

/** Deletes the records of unknown fields whose path contains a name of the entity. The contract has all other names. */
export async function eraseFromDrift(ops: Ops, { forgotten }: ErasureSearch, touched: TouchedRows): Promise<void> {
  const removed = await removeUnknownFields(ops, (_, path) => holdsName(path, forgotten));
  if (removed > 0) touched.note('drift', removed);
}

/** True if a field, or several in a row, have a name of the entity, since names contain dots. */
const holdsName = (fields: readonly string[], forgotten: Forgotten): boolean =>
  fields.some((_, start) =>
    fields.slice(start).some((_field, length) => {
      const name = fields.slice(start, start + length + 1).join('.');
      return cleanText(name, { forgotten }) !== name;
    }),
  );
