/** The columns with names that an entity gives itself, derived from the declared fields. */
import type { Fields, ObservationSpec } from '../../service/model.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';

/** An entity that a row describes. Its own names stay in the answers, so they stay in its columns. */
export interface DescribedEntity {
  /** The columns with its key. Names without a key can be those of the forgotten entity. */
  readonly key: readonly string[];
  /** The field of each column. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Returns the entities that a row of the table describes: the entity of the row, and those in its objects. */
export function entitiesIn(table: RootTable | ChildTable): readonly DescribedEntity[] {
  if (table.kind === 'root') return entitiesOf(table.resource.fields, '', table.key);
  const { element } = table;
  return element.of === 'object' ? entitiesOf(element.fields, '', keyOf(element.observation, '')) : [];
}

function entitiesOf(fields: Fields, prefix: string, key: readonly string[] | undefined): DescribedEntity[] {
  const scalars = Object.entries(fields).filter(([, { shape }]) => shape === 'scalar');
  const inner = Object.entries(fields).flatMap(([name, field]) => {
    const under = `${prefix}${name}_`;
    return field.shape === 'object' ? entitiesOf(field.fields, under, keyOf(field.observation, under)) : [];
  });
  const own = key && { key, fields: new Map(scalars.map(([name]) => [prefix + name, name])) };
  return own ? [own, ...inner] : inner;
}

/** The columns with the key of an observed entity; undefined for an object that is none, or only a URN. */
function keyOf(observation: ObservationSpec | undefined, prefix: string): readonly string[] | undefined {
  const [resource] = observation && observation.bare !== true ? observation.resources() : [];
  return resource?.key.map((name) => prefix + name);
}
