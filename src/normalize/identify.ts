/** Finds the names that an answer shows for one entity; pure. */
import type { RequestBody } from '../service/request-body.ts';
import { catalog } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { type RequestedName, type EntityName, storableNames, requestedName } from '../service/names/entity-name.ts';
import { namesShown } from '../service/resource.ts';
import type { Resource } from '../service/model.ts';
import { rootTableOf } from '../warehouse/schema/tables.ts';
import { type Batch, type RootRow, valuesOf } from './batch.ts';

/** An entity with its names in one answer. */
export interface NamedEntity {
  /** The resource's name in the contract. */
  readonly resource: string;
  /** The parts of its key as a JSON array. */
  readonly entity: string;
  readonly names: readonly LearnedName[];
}

/** A name of an entity. `isRequested` is true if the entity answered a request by this name. */
export interface LearnedName extends EntityName {
  readonly isRequested: boolean;
}

/** The longest key, in bytes of UTF-8: an index entry holds it together with a name. */
const LONGEST_ENTITY = 1_300;

/**
 * The entities of an answer with at least two names. A requested name belongs to the entity in the answer. If no entity
 * shows the name, all entities that the request is about get it, and a name of several entities identifies none of
 * them.
 */
export function namedEntities(endpoint: Endpoint, request: RequestBody, batch: Batch): NamedEntity[] {
  return namedResources().flatMap((resource) => {
    const rows = batch.roots.get(resource.table);
    if (!rows) return [];
    const seen = new Map<string, Seen>();
    for (const row of rows) note(seen, resource, row);
    const { naming } = endpoint;
    const written = naming?.resource() === resource ? request[naming.field] : undefined;
    if (naming && typeof written === 'string') {
      // Entities nested in an item are not what the request was about.
      const candidates = [...seen.values()].filter(({ isItem }) => isItem || endpoint.returns !== resource);
      addRequestedName(requestedName(naming.kinds, written), candidates);
    }
    return [...seen.values()].flatMap(({ row, names }) => {
      const valueOf = valuesOf(rootTableOf(resource), row);
      const entity = JSON.stringify(resource.key.map((column) => String(valueOf(column))));
      const isKept = names.size > 1 && Buffer.byteLength(entity) <= LONGEST_ENTITY;
      return isKept ? [{ resource: resource.name, entity, names: [...names.values()] }] : [];
    });
  });
}

/** The resources with stored names: those that some endpoint requests by name. */
const namedResources = (): Resource[] => [
  ...new Set(catalog.flatMap(({ naming }) => (naming ? [naming.resource()] : []))),
];

interface Seen {
  readonly row: RootRow;
  readonly names: Map<string, LearnedName>;
  isItem: boolean;
}

const idOf = ({ kind, name }: EntityName): string => `${kind}:${name}`;

function note(seen: Map<string, Seen>, resource: Resource, row: RootRow): void {
  const entity = seen.get(row.id) ?? { row, names: new Map(), isItem: false };
  seen.set(row.id, entity);
  entity.isItem ||= row.item !== undefined;
  for (const name of namesShown(resource, valuesOf(rootTableOf(resource), row)))
    entity.names.set(idOf(name), { ...name, isRequested: false });
}

/** Adds the requested name to the entities that it names. */
function addRequestedName(requested: RequestedName, entities: readonly Seen[]): void {
  const shown = entities.flatMap((entity) => {
    const known = requested.candidates.find((name) => entity.names.has(idOf(name)));
    return known ? [{ entity, known }] : [];
  });
  const assumed = requested.fallback;
  const named = shown.length > 0 || !assumed ? shown : entities.map((entity) => ({ entity, known: assumed }));
  for (const { entity, known } of named) {
    const written =
      requested.written === undefined ? [] : storableNames([{ kind: known.kind, name: requested.written }]);
    for (const name of [known, ...written]) entity.names.set(idOf(name), { ...name, isRequested: true });
  }
}
