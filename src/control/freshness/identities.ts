/**
 * Which names are one entity, learned from answers: a row for each name under which an entity was shown, with the first
 * and the last time. A name is its entity's as long as nobody else was shown under it since, and, of an alias or an
 * address, as long as the entity was shown under no other since. Names that entities share at a time name none of them.
 * Only a name that was asked for, and answered by the entity, stands for it in a request: an answer may show several people
 * under one masked alias or address.
 */
import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { NamedEntity } from '../../normalize/identify.ts';
import type { NameKind } from '../../service/names/entity-name.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';

/**
 * How much later than a row says its name may have been shown last. Finer dates would cost a write for each load of
 * what is known; with coarser ones, what was asked by a name just before another took it over is bought again. Where
 * the order of two sightings decides, dates are exact.
 */
export const LAST_SEEN_LAG = sql<string>`interval '1 hour'`;

/** Kinds of names that an entity has one of at a time. */
const ONE_AT_A_TIME: readonly NameKind[] = ['alias', 'url'];

/** True of a kind that is one of these, after an equals sign. */
export const anyKindOf = (kinds: readonly NameKind[]) => sql<NameKind>`any(${arrayLiteral(kinds)}::text[])`;

/** The entities of one answer with the names that it shows. */
export interface NamedAnswer {
  readonly entities: readonly NamedEntity[];
  readonly answer: Pick<StoredAnswer, 'id' | 'receivedAt'>;
}

/**
 * Learns from answers, in their load's transaction. Times are of their receipt, so that older answers and replays change
 * nothing that a newer one said; rows that would only move within the lag are not written.
 */
export async function learnNames(ops: Ops, named: readonly NamedAnswer[]): Promise<void> {
  const shown = nameObservations(named);
  if (shown.length === 0) return;
  const array = (of: (it: NameObservation) => string | boolean) => sql`${arrayLiteral(shown.map(of))}`;
  const source = sql<NameObservationRow>`(select * from unnest(
    ${array(({ resource }) => resource)}::text[],
    ${array(({ kind }) => kind)}::text[],
    ${array(({ name }) => name)}::text[],
    ${array(({ entity }) => entity)}::text[],
    ${array(({ first }) => first.receivedAt)}::timestamptz[],
    ${array(({ last }) => last.receivedAt)}::timestamptz[],
    ${array(({ last }) => last.id)}::bigint[],
    ${array(({ isOrdered }) => isOrdered)}::boolean[],
    ${array(({ isRequested: asked }) => asked)}::boolean[]
  ) as u(resource, kind, name, entity, first_seen_at, last_seen_at, answer_id, is_ordered, asked))`;
  const mustMove = sql<boolean>`i.entity is null or t.asked and not i.asked or t.first_seen_at < i.first_seen_at or t.last_seen_at > i.last_seen_at + ${LAST_SEEN_LAG}
    or ${isNewer('t', 'i')} and (
      t.is_ordered or exists ${othersWithName(ops, 'i').where(isNewer('o', 'i'))} or exists ${otherNamesOfEntity(ops, 'i').where(isNewer('o', 'i'))})`;
  await ops
    .insertInto('identities')
    .columns(['resource', 'kind', 'name', 'entity', 'first_seen_at', 'last_seen_at', 'answer_id', 'asked'])
    .expression((eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom(source.as('t'))
            .leftJoinLateral(
              eb
                .selectFrom('identities')
                .selectAll()
                .where(sql<SqlBool>`(resource, kind, name, entity) = (t.resource, t.kind, t.name, t.entity)`)
                .offset(0)
                .as('i'),
              (join) => join.onTrue(),
            )
            .selectAll('t')
            // Names that were shown together move together, or one would look older than the other.
            .select(sql<boolean>`bool_or(${mustMove}) over (partition by t.resource, t.entity)`.as('moves'))
            .as('s'),
        )
        .select([
          's.resource',
          's.kind',
          's.name',
          's.entity',
          's.first_seen_at',
          's.last_seen_at',
          's.answer_id',
          's.asked',
        ])
        .where('s.moves', '=', true)
        // Whoever waits for a row while holding others takes them in the same order.
        .orderBy('s.resource')
        .orderBy('s.kind')
        .orderBy('s.name')
        .orderBy('s.entity'),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['resource', 'kind', 'name', 'entity'])
        .doUpdateSet({
          first_seen_at: sql`least(identities.first_seen_at, excluded.first_seen_at)`,
          last_seen_at: sql`greatest(identities.last_seen_at, excluded.last_seen_at)`,
          answer_id: sql`case when ${isNewer('excluded', 'identities')} then excluded.answer_id else identities.answer_id end`,
          asked: sql`identities.asked or excluded.asked`,
        })
        .where(
          sql<SqlBool>`excluded.asked and not identities.asked or excluded.first_seen_at < identities.first_seen_at or ${isNewer('excluded', 'identities')}`,
        ),
    )
    .execute();
}

/** A name of an entity, from the first of the answers of a load that show it to the last. */
interface NameObservation {
  readonly resource: string;
  readonly kind: NameKind;
  readonly name: string;
  readonly entity: string;
  readonly first: NamedAnswer['answer'];
  readonly last: NamedAnswer['answer'];
  /** The entity was the answer to a request by this name. */
  readonly isRequested: boolean;
  /** Order decides between names that are shared or follow each other, so between these answers too. */
  readonly isOrdered: boolean;
}

interface NameObservationRow extends Pick<NameObservation, 'resource' | 'kind' | 'name' | 'entity'> {
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
  readonly answer_id: string;
  readonly is_ordered: boolean;
  readonly asked: boolean;
}

function nameObservations(named: readonly NamedAnswer[]): NameObservation[] {
  const shown = new Map<string, Omit<NameObservation, 'isOrdered'>>();
  for (const { entities, answer } of named)
    for (const { resource, entity, names } of entities)
      for (const { kind, name, isRequested } of names) {
        const key = JSON.stringify([resource, kind, name, entity]);
        const { first = answer, last = answer, isRequested: before = false } = shown.get(key) ?? {};
        const span = { first: isBefore(answer, first) ? answer : first, last: isBefore(last, answer) ? answer : last };
        shown.set(key, { resource, kind, name, entity, isRequested: isRequested || before, ...span });
      }
  const all = [...shown.values()];
  const ofName = Map.groupBy(all, ({ resource, kind, name }) => JSON.stringify([resource, kind, name]));
  const ofEntity = Map.groupBy(all, ({ resource, entity, kind }) => JSON.stringify([resource, entity, kind]));
  const rivals = [
    ...ofName.values(),
    ...[...ofEntity.values()].filter(([one]) => one !== undefined && ONE_AT_A_TIME.includes(one.kind)),
  ].filter((group) => group.length > 1 && new Set(group.map(({ last }) => last.id)).size > 1);
  const ordered = new Set(rivals.flat());
  return all.map((it) => ({ ...it, isOrdered: ordered.has(it) }));
}

/** True of an answer that was received before the other; of two at one instant, one that was stored before. */
const isBefore = (one: NamedAnswer['answer'], other: NamedAnswer['answer']): boolean =>
  one.receivedAt === other.receivedAt ? BigInt(one.id) < BigInt(other.id) : one.receivedAt < other.receivedAt;

/** True when the one row's last sighting came after the other's; of two at one instant the later stored did. */
export const isNewer = (one: string, other: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.ref(`${one}.last_seen_at`)}, ${sql.ref(`${one}.answer_id`)}) > (${sql.ref(`${other}.last_seen_at`)}, ${sql.ref(`${other}.answer_id`)})`;

// Each offset is a fence: without it, a table that nobody has analyzed yet is read whole where an index would do.

/** The row of an identity that a subquery is about, by its alias in the query around it. */
type Around = 'i' | 'e';

/** Rows, as `o`, of others under the same name. */
export const othersWithName = (ops: Ops, row: Around) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.kind, o.name) = (${parts(row, 'resource', 'kind', 'name')})`)
    .where('o.entity', '<>', sql.ref<string>(`${row}.entity`))
    .offset(0);

/** Rows, as `o`, of the same entity under another name, of a kind of which it has one at a time. */
export const otherNamesOfEntity = (ops: Ops, row: Around) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.entity, o.kind) = (${parts(row, 'resource', 'entity', 'kind')})`)
    .where('o.kind', '=', anyKindOf(ONE_AT_A_TIME))
    .where('o.name', '<>', sql.ref<string>(`${row}.name`))
    .offset(0);

const parts = (row: string, ...columns: readonly string[]) =>
  sql.join(columns.map((column) => sql.ref(`${row}.${column}`)));
