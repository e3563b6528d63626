/**
 * Which names are one entity, learned from answers: a row for each name under which an entity was shown, with the first
 * and the last time. A name is its entity's as long as nobody else was shown under it since, and, of an alias or an
 * address, as long as the entity was shown under no other since. Names that entities share at a time name none of them.
 */
import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { NamedEntity } from '../normalize/identify.ts';
import type { NameKind } from '../service/entity-name.ts';
import { arrayLiteral } from '../warehouse/array.ts';
import type { Ops } from './schema.ts';
import type { VaultAnswer } from './vault.ts';

/**
 * How much later than a row says its name may have been shown last. Finer dates would cost a write for each load of
 * what is known; with coarser ones, what was asked by a name just before another took it over is bought again. Where
 * the order of two sightings decides, dates are exact.
 */
export const LAG = sql<string>`interval '1 hour'`;

/** Kinds of names that an entity has one of at a time. */
const ONE_AT_A_TIME: readonly NameKind[] = ['alias', 'url'];

/** True of a kind that is one of these, after an equals sign. */
export const oneOf = (kinds: readonly NameKind[]) => sql<NameKind>`any(${arrayLiteral(kinds)}::text[])`;

/**
 * Learns from an answer, in its load's transaction. Times are of its receipt, so that older answers and replays change
 * nothing that a newer one said; rows that would only move within the lag are not written.
 */
export async function learnNames(
  ops: Ops,
  entities: readonly NamedEntity[],
  answer: Pick<VaultAnswer, 'id' | 'receivedAt'>,
): Promise<void> {
  const seen = entities.flatMap(({ resource, entity, names }) => names.map((it) => ({ resource, entity, ...it })));
  if (seen.length === 0) return;
  const at = sql<Date>`${answer.receivedAt}::timestamptz`;
  const id = sql<string>`${answer.id}::bigint`;
  const source = sql<{ resource: string; kind: NameKind; name: string; entity: string }>`(select * from unnest(
    ${arrayLiteral(seen.map(({ resource }) => resource))}::text[],
    ${arrayLiteral(seen.map(({ kind }) => kind))}::text[],
    ${arrayLiteral(seen.map(({ name }) => name))}::text[],
    ${arrayLiteral(seen.map(({ entity }) => entity))}::text[]) as u(resource, kind, name, entity))`;
  // Order decides between names that are shared or follow each other, so there the lag is not waited for.
  const mustMove = sql<boolean>`i.entity is null or ${at} < i.first_seen_at or ${at} > i.last_seen_at + ${LAG}
    or (${at}, ${id}) > (i.last_seen_at, i.answer_id) and (
      exists ${sharing(ops, 'i').where(isNewer('o', 'i'))} or exists ${renamed(ops, 'i').where(isNewer('o', 'i'))})`;
  await ops
    .insertInto('identities')
    .columns(['resource', 'kind', 'name', 'entity', 'first_seen_at', 'last_seen_at', 'answer_id'])
    .expression((eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom(source.as('t'))
            .leftJoin('identities as i', (join) =>
              join
                .onRef('i.resource', '=', 't.resource')
                .onRef('i.kind', '=', 't.kind')
                .onRef('i.name', '=', 't.name')
                .onRef('i.entity', '=', 't.entity'),
            )
            .select(['t.resource', 't.kind', 't.name', 't.entity'])
            // Names that were shown together move together, or one would look older than the other.
            .select(sql<boolean>`bool_or(${mustMove}) over (partition by t.resource, t.entity)`.as('moves'))
            .as('s'),
        )
        .select(['s.resource', 's.kind', 's.name', 's.entity'])
        .select([at.as('first_seen_at'), at.as('last_seen_at'), id.as('answer_id')])
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
        })
        .where(sql<SqlBool>`excluded.first_seen_at < identities.first_seen_at or ${isNewer('excluded', 'identities')}`),
    )
    .execute();
}

/** True when the one row's last sighting came after the other's; of two at one instant the later stored did. */
export const isNewer = (one: string, other: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.ref(`${one}.last_seen_at`)}, ${sql.ref(`${one}.answer_id`)}) > (${sql.ref(`${other}.last_seen_at`)}, ${sql.ref(`${other}.answer_id`)})`;

// Each offset is a fence: without it, a table that nobody has analyzed yet is read whole where an index would do.

/** The row of an identity that a subquery is about, by its alias in the query around it. */
type Around = 'i' | 'e';

/** Rows, as `o`, of others under the same name. */
export const sharing = (ops: Ops, row: Around) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.kind, o.name) = (${parts(row, 'resource', 'kind', 'name')})`)
    .where('o.entity', '<>', sql.ref<string>(`${row}.entity`))
    .offset(0);

/** Rows, as `o`, of the same entity under another name, of a kind of which it has one at a time. */
export const renamed = (ops: Ops, row: Around) =>
  ops
    .selectFrom('identities as o')
    .select('o.entity')
    .where(sql<SqlBool>`(o.resource, o.entity, o.kind) = (${parts(row, 'resource', 'entity', 'kind')})`)
    .where('o.kind', '=', oneOf(ONE_AT_A_TIME))
    .where('o.name', '<>', sql.ref<string>(`${row}.name`))
    .offset(0);

const parts = (row: string, ...columns: readonly string[]) =>
  sql.join(columns.map((column) => sql.ref(`${row}.${column}`)));
