/** Which names an answer shows to be one entity; pure. */
import type { RequestBody } from '../service/request-body.ts';
import { catalog } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { type RequestedName, type EntityName, storableNames, requestedName } from '../service/names/entity-name.ts';
import { namesShown } from '../service/resource.ts';
import type { Resource } from '../service/model.ts';
import type { Batch, RootRow } from './batch.ts';

/** An entity with the names that one answer shows of it. */
export interface NamedEntity {
  /** The contract's name of the resource. */
  readonly resource: string;
  /** Its key's parts as a JSON array. */
  readonly entity: string;
  readonly names: readonly LearnedName[];
}

/** A name of an entity; `isRequested` when the entity was the answer to a request by it, not only shown under it. */
export interface LearnedName extends EntityName {
  readonly isRequested: boolean;
}

/** Longest entity, in bytes of UTF-8: an entry of the index holds it beside a name. */
const LONGEST_ENTITY = 1_300;

/**
 * The entities of an answer of which it shows two names or more. To be asked by a name and answered is to be shown under
 * it: when an answer shows its name for nobody, everybody whom it is about goes by it, and if these are several, it will
 * name none of them.
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
      // What is nested in an item is not what the question was about.
      const about = [...seen.values()].filter(({ isItem }) => isItem || endpoint.returns !== resource);
      answerTo(requestedName(naming.kinds, written), about);
    }
    return [...seen.values()].flatMap(({ row, names }) => {
      const entity = JSON.stringify(resource.key.map((column) => String(row.cells[column])));
      const isKept = names.size > 1 && Buffer.byteLength(entity) <= LONGEST_ENTITY;
      return isKept ? [{ resource: resource.name, entity, names: [...names.values()] }] : [];
    });
  });
}

/** The resources whose names are learned: those that some endpoint can be asked for by name. */
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
  for (const name of namesShown(resource, row.cells)) entity.names.set(idOf(name), { ...name, isRequested: false });
}

/** Adds the name that was asked for to those who go by it. */
function answerTo(asked: RequestedName, about: readonly Seen[]): void {
  const shown = about.flatMap((entity) => {
    const known = asked.candidates.find((name) => entity.names.has(idOf(name)));
    return known ? [{ entity, known }] : [];
  });
  const taken = asked.fallback;
  const named = shown.length > 0 || !taken ? shown : about.map((entity) => ({ entity, known: taken }));
  for (const { entity, known } of named) {
    const written = asked.written === undefined ? [] : storableNames([{ kind: known.kind, name: asked.written }]);
    for (const name of [known, ...written]) entity.names.set(idOf(name), { ...name, isRequested: true });
  }
}
