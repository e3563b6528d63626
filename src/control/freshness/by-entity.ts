/** Finds what is known about an entity under any of its names: the names, and the stored answers about it. */
import { type RawBuilder, sql, type SqlBool } from 'kysely';
import { type EntityName, NAME_KINDS } from '../../service/names/entity-name.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import type { ReceiptRange } from '../../ledger/fresh-answers.ts';
import { isNewer, LAST_SEEN_LAG, anyKindOf, otherNamesOfEntity, othersWithName } from './identities.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { inBatches } from '../../async/in-batches.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** Rows per statement. */
const CHUNK = 1000;

/** SQL condition that the name still belongs to its entity. */
const isCurrent = (ops: Ops, row: 'i' | 'e'): RawBuilder<SqlBool> => sql<SqlBool>`(
  not exists ${othersWithName(ops, row).where('o.last_seen_at', '>=', sql.ref<Date>(`${row}.first_seen_at`))}
  and not exists ${otherNamesOfEntity(ops, row).where(isNewer('o', row))})`;

/** SQL for the matching rows, found by an index for each outer row. */
const fenced = (ops: Ops, matches: RawBuilder<unknown>) =>
  ops
    .selectFrom('identities')
    .selectAll()
    .where(matches as RawBuilder<SqlBool>)
    .offset(0);
const onTrue = <J extends { readonly onTrue: () => J }>(join: J): J => join.onTrue();

/** The names that a request may use; observations of a name count from `since` on. */
export interface EntityLookup {
  readonly names: readonly EntityName[];
  readonly since: Date;
}

/** A requested name of an entity, observed within the time that counts. */
export interface KnownName extends EntityName {
  readonly entity: string;
  /** The name still belongs to the entity, as far as known. */
  readonly current: boolean;
}

/**
 * Returns the requested names of the one entity that each lookup identifies, by index; none if the entity is not
 * certain.
 */
export async function namesOfEntities(
  ops: Ops,
  resource: string,
  lookups: readonly EntityLookup[],
): Promise<Map<number, KnownName[]>> {
  const found = new Map<number, KnownName[]>();
  for (let start = 0; start < lookups.length; start += CHUNK) {
    const part = lookups
      .slice(start, start + CHUNK)
      .flatMap(({ names, since }, index) => names.map((it) => ({ ...it, place: start + index, since })));
    if (part.length === 0) continue;
    const source = rowsFrom(part, {
      place: ['bigint', ({ place }) => place],
      kind: ['text', ({ kind }) => kind],
      name: ['text', ({ name }) => name],
      since: ['timestamptz', ({ since }) => since],
    });
    const rows = await ops
      .selectFrom(source.as('t'))
      .innerJoinLateral(
        fenced(ops, sql`(resource, kind, name) = (${resource}, t.kind, t.name) and asked`).as('i'),
        onTrue,
      )
      .innerJoinLateral(fenced(ops, sql`(resource, entity) = (i.resource, i.entity) and asked`).as('e'), onTrue)
      .select(['t.place', 'e.entity', 'e.kind', 'e.name'])
      .select(isCurrent(ops, 'e').as('current'))
      .distinct()
      .where(sql<SqlBool>`i.last_seen_at + ${LAST_SEEN_LAG} >= t.since`)
      .where(isCurrent(ops, 'i'))
      .where(sql<SqlBool>`e.last_seen_at + ${LAST_SEEN_LAG} >= t.since`)
      .execute();
    for (const { place, entity, kind, name, current } of rows) {
      const known = found.get(Number(place)) ?? [];
      known.push({ entity, kind, name, current: current === true });
      found.set(Number(place), known);
    }
  }
  // A bare word can be the alias of one entity and the id of another.
  for (const [place, names] of found) if (new Set(names.map(({ entity }) => entity)).size > 1) found.delete(place);
  return found;
}

/** A request that may have been about an entity. */
export interface AnswerCandidate extends ReceiptRange {
  readonly place: number;
  readonly requestKey: string;
  /** The key of the request whose answer is looked for. */
  readonly soughtKey: string;
  readonly name: KnownName;
}

/**
 * Returns the loaded answer to one of the candidates that was received last, by index. The answer must be received
 * within the candidate's times and while only the candidate's entity had the requested name, and no later answer to the
 * candidate or to the request itself may be unreadable. `mayBeEmpty` means that an answer without items is also about an
 * entity: the one that the requested name currently belongs to.
 */
export async function freshAnswersByEntity(
  ops: Ops,
  resource: string,
  candidates: readonly AnswerCandidate[],
  mayBeEmpty: boolean,
): Promise<Map<number, string>> {
  const found = new Map<number, FoundAnswer>();
  for (const part of inBatches(candidates, CHUNK)) {
    const source = rowsFrom(part, {
      place: ['bigint', ({ place }) => place],
      request_key: ['text', ({ requestKey }) => requestKey],
      sought_key: ['text', ({ soughtKey }) => soughtKey],
      kind: ['text', ({ name }) => name.kind],
      name: ['text', ({ name }) => name.name],
      entity: ['text', ({ name }) => name.entity],
      current: ['boolean', ({ name }) => name.current],
      since: ['timestamptz', ({ since }) => since],
      until: ['timestamptz', ({ until }) => until],
    });
    const rows = await ops
      .selectFrom(source.as('c'))
      .innerJoinLateral(
        ops
          .selectFrom('answers')
          .select(['id', 'received_at', 'received', 'quarantined'])
          .where(sql<SqlBool>`request_key = c.request_key and received_at between c.since and c.until`)
          .where('loaded_at', 'is not', null)
          .where('body', 'is not', null)
          .where('unreadable', '=', false)
          .where('status', '<>', '412')
          .offset(0)
          .as('a'),
        onTrue,
      )
      .innerJoinLateral(
        fenced(ops, sql`(resource, kind, name, entity) = (${resource}, c.kind, c.name, c.entity)`).as('i'),
        onTrue,
      )
      .select(['c.place', 'a.id', 'a.received_at'])
      .distinctOn('c.place')
      .whereRef('a.received_at', '>=', 'i.first_seen_at')
      .where((eb) =>
        eb.or([
          eb.and([
            eb('a.received', '>', eb.ref('a.quarantined')),
            sql<SqlBool>`a.received_at <= i.last_seen_at + ${LAST_SEEN_LAG}`,
          ]),
          eb.and([eb.lit(mayBeEmpty), eb('a.received', '=', '0'), eb('c.current', '=', true)]),
        ]),
      )
      .where(notExists(othersThen(ops)))
      .where(notExists(unreadableSince(ops)))
      .orderBy('c.place')
      .orderBy('a.received_at', 'desc')
      .orderBy('a.id', 'desc')
      .execute();
    for (const { place, id, received_at: receivedAt } of rows) {
      const known = found.get(Number(place));
      if (known === undefined || isLater({ id, receivedAt }, known)) found.set(Number(place), { id, receivedAt });
    }
  }
  return new Map([...found].map(([place, { id }]) => [place, id]));
}

interface FoundAnswer {
  readonly id: string;
  readonly receivedAt: Date;
}

/** True if an answer was received later. Ids decide only for equal times: a late answer of the spool has a high id. */
function isLater(one: FoundAnswer, other: FoundAnswer): boolean {
  const ms = one.receivedAt.getTime() - other.receivedAt.getTime();
  return ms === 0 ? BigInt(one.id) > BigInt(other.id) : ms > 0;
}

/** Unreadable answers to the candidate, or to the request itself, that were received after the answer. */
const unreadableSince = (ops: Ops) =>
  ops
    .selectFrom('answers as u')
    .select('u.id')
    .where(sql<SqlBool>`u.request_key = any(array[c.request_key, c.sought_key])`)
    .where(sql<SqlBool>`u.unreadable and u.received_at between a.received_at and c.until`)
    .where(sql<SqlBool>`(u.received_at, u.id) > (a.received_at, a.id)`)
    .offset(0);

/** Rows of other entities that had the name, of any kind, when the answer was received. */
const othersThen = (ops: Ops) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.name) = (i.resource, i.name) and o.entity <> i.entity`)
    .where('o.kind', '=', anyKindOf(NAME_KINDS))
    .where(sql<SqlBool>`o.first_seen_at <= a.received_at`)
    .where((eb) =>
      eb.or([
        sql<SqlBool>`o.last_seen_at >= a.received_at`,
        // The last observation of another entity before this entity's first one is dated exactly.
        sql<SqlBool>`o.last_seen_at >= i.first_seen_at and o.last_seen_at + ${LAST_SEEN_LAG} >= a.received_at`,
      ]),
    )
    .offset(0);
