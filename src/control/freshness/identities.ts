/**
 * Learns from answers which names belong to one entity: a row for each name and entity, with the first and last
 * observation. A name belongs to its entity until another entity is observed with it. An alias or an address also ends
 * when the entity is observed with another one. Names that entities share at a time identify none of them. Only a name
 * that was requested, and answered by the entity, can replace another name in a request, since an answer may show
 * several people under one masked alias or address.
 */
import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { NamedEntity } from '../../normalize/identify.ts';
import type { NameKind } from '../../service/names/entity-name.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';

/**
 * How far the last observation in a row may lag behind. A smaller lag would cost a write for each load of known names.
 * A larger lag buys answers again that came just before another entity took over a name. If the order of two
 * observations matters, their times are exact.
 */
export const LAST_SEEN_LAG = sql<string>`interval '1 hour'`;

const COLUMNS = ['resource', 'kind', 'name', 'entity', 'first_seen_at', 'last_seen_at', 'answer_id', 'asked'] as const;

/** Kinds of names that an entity has only one of at a time. */
const ONE_AT_A_TIME: readonly NameKind[] = ['alias', 'url'];

/** SQL for a kind that is one of these, after an equals sign. */
export const anyKindOf = (kinds: readonly NameKind[]) => sql<NameKind>`any(${arrayLiteral(kinds)}::text[])`;

/** The entities of one answer with their names. */
export interface NamedAnswer {
  readonly entities: readonly NamedEntity[];
  readonly answer: Pick<StoredAnswer, 'id' | 'receivedAt'>;
}

/**
 * Learns names from answers, in the transaction of their load. Times are receipt times, so older answers and replays
 * change nothing that a newer answer reported. Rows that would change only within the lag are not written.
 */
export async function learnNames(ops: Ops, named: readonly NamedAnswer[]): Promise<void> {
  const observed = nameObservations(named);
  if (observed.length === 0) return;
  const source = rowsFrom(observed, {
    resource: ['text', ({ resource }) => resource],
    kind: ['text', ({ kind }) => kind],
    name: ['text', ({ name }) => name],
    entity: ['text', ({ entity }) => entity],
    first_seen_at: ['timestamptz', ({ first }) => first.receivedAt],
    last_seen_at: ['timestamptz', ({ last }) => last.receivedAt],
    answer_id: ['bigint', ({ last }) => last.id],
    is_ordered: ['boolean', ({ isOrdered }) => isOrdered],
    asked: ['boolean', ({ isRequested }) => isRequested],
  });
  const mustUpdate = sql<boolean>`i.entity is null or t.asked and not i.asked or t.first_seen_at < i.first_seen_at or t.last_seen_at > i.last_seen_at + ${LAST_SEEN_LAG}
    or ${isNewer('t', 'i')} and (
      t.is_ordered or exists ${othersWithName(ops, 'i').where(isNewer('o', 'i'))} or exists ${otherNamesOfEntity(ops, 'i').where(isNewer('o', 'i'))})`;
  await ops
    .insertInto('identities')
    .columns(COLUMNS)
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
            // Names that were observed together are updated together, otherwise one would look older than the other.
            .select(sql<boolean>`bool_or(${mustUpdate}) over (partition by t.resource, t.entity)`.as('moves'))
            .as('s'),
        )
        .select(COLUMNS)
        .where('s.moves', '=', true)
        // Lock rows in one global order to avoid deadlocks.
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

/** A name of an entity, with the first and the last answer of a load that show it. */
interface NameObservation {
  readonly resource: string;
  readonly kind: NameKind;
  readonly name: string;
  readonly entity: string;
  readonly first: NamedAnswer['answer'];
  readonly last: NamedAnswer['answer'];
  /** The entity answered a request by this name. */
  readonly isRequested: boolean;
  /** The name is shared or replaced within this load, so the order of its answers matters. */
  readonly isOrdered: boolean;
}

function nameObservations(named: readonly NamedAnswer[]): NameObservation[] {
  const observed = new Map<string, Omit<NameObservation, 'isOrdered'>>();
  for (const { entities, answer } of named)
    for (const { resource, entity, names } of entities)
      for (const { kind, name, isRequested } of names) {
        const key = JSON.stringify([resource, kind, name, entity]);
        const { first = answer, last = answer, isRequested: before = false } = observed.get(key) ?? {};
        const span = { first: isBefore(answer, first) ? answer : first, last: isBefore(last, answer) ? answer : last };
        observed.set(key, { resource, kind, name, entity, isRequested: isRequested || before, ...span });
      }
  const all = [...observed.values()];
  const ofName = Map.groupBy(all, ({ resource, kind, name }) => JSON.stringify([resource, kind, name]));
  const ofEntity = Map.groupBy(all, ({ resource, entity, kind }) => JSON.stringify([resource, entity, kind]));
  const rivals = [
    ...ofName.values(),
    ...[...ofEntity.values()].filter(([one]) => one !== undefined && ONE_AT_A_TIME.includes(one.kind)),
  ].filter((group) => group.length > 1 && new Set(group.map(({ last }) => last.id)).size > 1);
  const ordered = new Set(rivals.flat());
  return all.map((it) => ({ ...it, isOrdered: ordered.has(it) }));
}

/** True if an answer was received before the other; for equal times, if it was stored before. */
const isBefore = (one: NamedAnswer['answer'], other: NamedAnswer['answer']): boolean =>
  one.receivedAt === other.receivedAt ? BigInt(one.id) < BigInt(other.id) : one.receivedAt < other.receivedAt;

/** SQL condition that a row's last observation is later than the other's; for equal times, the later stored one. */
export const isNewer = (one: string, other: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.ref(`${one}.last_seen_at`)}, ${sql.ref(`${one}.answer_id`)}) > (${sql.ref(`${other}.last_seen_at`)}, ${sql.ref(`${other}.answer_id`)})`;

// Each offset is a fence: without it, the planner scans a table without statistics instead of using the index.

/** The alias of the identity row in the outer query. */
type OuterAlias = 'i' | 'e';

/** SQL for rows, as `o`, of other entities with the same name. */
export const othersWithName = (ops: Ops, row: OuterAlias) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.kind, o.name) = (${parts(row, 'resource', 'kind', 'name')})`)
    .where('o.entity', '<>', sql.ref<string>(`${row}.entity`))
    .offset(0);

/** SQL for rows, as `o`, of the same entity with another name, of a kind that it has one of at a time. */
export const otherNamesOfEntity = (ops: Ops, row: OuterAlias) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.entity, o.kind) = (${parts(row, 'resource', 'entity', 'kind')})`)
    .where('o.kind', '=', anyKindOf(ONE_AT_A_TIME))
    .where('o.name', '<>', sql.ref<string>(`${row}.name`))
    .offset(0);

const parts = (row: string, ...columns: readonly string[]) =>
  sql.join(columns.map((column) => sql.ref(`${row}.${column}`)));
