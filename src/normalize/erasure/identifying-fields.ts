/**
 * Fields that identify entities, from the declarations of all resources. They count in every object: services send fields
 * that the contract declares only for another resource.
 */
import { rootTables } from '../../warehouse/schema/tables.ts';

const declared = rootTables.flatMap(({ resource: { fields, identifiedBy = {} } }) =>
  Object.entries(identifiedBy).map(([field, how]) => ({ field, how, isOfRequest: fields[field]?.shape === 'given' })),
);

const fieldsThat = (isMatch: (it: (typeof declared)[number]) => boolean): readonly string[] => [
  ...new Set(declared.filter(isMatch).map(({ field }) => field)),
];

/** Fields of answers that name an entity. A display name is not among them, since many entities share it. */
export const NAME_FIELDS = fieldsThat(({ how, isOfRequest }) => how !== 'text' && !isOfRequest);

/** The fields among these that never change hands. */
export const PERMANENT_FIELDS = fieldsThat(({ how }) => how === 'permanent');

/** Fields that identify an entity but cannot name it in a request. */
export const TEXT_FIELDS: ReadonlySet<string> = new Set(fieldsThat(({ how }) => how === 'text'));

export const IDENTIFYING_FIELDS = fieldsThat(() => true);
