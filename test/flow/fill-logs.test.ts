/** The values that logs keep in `extra` move to new columns like those of rows, and a repeated load adds nothing. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { fillColumns } from '../../src/flow/fill/fill-columns.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import { rootTables } from '../../src/warehouse/schema/tables.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { anyWarehouse, realEffects } from '../support/warehouse.ts';
import { rowsOf, select, versionsOf } from './rows.ts';

const urn = (value: string, type = 'fsd_profile') => ({ type, value });
const person = (headline: unknown, more: object = {}) =>
  batchOf('pronet.search.users', { title: 'x', count: 9 }, [{ urn: urn('ann'), name: 'n', headline, ...more }]);
const schools = (...ranges: unknown[]) =>
  batchOf(
    'pronet.user.education',
    { urn: urn('ann'), count: 9 },
    ranges.map((employee_range) => ({ company: { name: 'S', employee_range } })),
  );
const group = (...members: readonly (readonly [string, string])[]) =>
  batchOf('pronet.group', { group: 'g' }, [
    {
      urn: urn('g', 'group'),
      name: 'G',
      members: members.map(([value, headline]) => ({ user: { urn: urn(value), headline }, role: 'r' })),
    },
  ]);

/** A text, a number where a text is due, nothing, an unknown field, removed schools, a member that left and returned. */
const ANSWERS = [
  person('a'),
  person('b', { mood: 1 }),
  person(null, { mood: 2 }),
  person(['no text'], { mood: 2 }),
  person('c', { mood: 2 }),
  schools('1-10', '11-50'),
  schools('11-50'),
  schools(),
  group(['p', 'a'], ['q', 'a']),
  group(['p', 'b']),
  group(['q', 'c'], ['p', 'b']),
];

const COLUMNS = [
  { table: 'pronet_users', log: 'pronet_user_changes', column: 'headline', path: ['headline'] },
  {
    table: 'pronet_user_educations',
    log: 'pronet_user_education_changes',
    column: 'company_employee_range',
    path: ['company', 'employee_range'],
  },
  {
    table: 'pronet_group_members',
    log: 'pronet_group_member_changes',
    column: 'user_headline',
    path: ['user', 'headline'],
  },
] as const;

type Line = Readonly<Record<'entity' | 'attribute' | 'changed_at' | '_answer_id', string>> &
  Readonly<Record<'from_value' | 'to_value', string | null>>;

/** The value with the column's value inside, as the log has JSON. */
const inExtra = (extra: string | null, path: readonly string[], value: string | null): string | null => {
  const [outer = '', inner] = path;
  const known = (extra === null ? {} : JSON.parse(extra)) as Record<string, object>;
  const all =
    value === null ? known : { ...known, [outer]: inner === undefined ? value : { ...known[outer], [inner]: value } };
  return Object.keys(all).length === 0 ? null : canonicalJson(all);
};

/** Logs as a version without the column left them: one line of `extra` for what an answer changed in it. */
async function logBefore(warehouse: Warehouse, { log, column, path }: (typeof COLUMNS)[number]): Promise<void> {
  const key = rootTables
    .flatMap((it) => [it, ...it.children])
    .flatMap(({ changes }) => (changes?.name === log ? changes.entityKey : []));
  const lines = await select<Line>(
    warehouse,
    `select jsonb_build_array(${key.join(', ')})::text as entity, attribute, changed_at::text, _answer_id::text, from_value, to_value
     from sluice.${log} where attribute in ('${column}', 'extra')`,
  );
  await sql.raw(`delete from sluice.${log} where attribute in ('${column}', 'extra')`).execute(warehouse.db);
  const answers = Map.groupBy(lines, (it) => [it.entity, it.changed_at, it._answer_id].join(' '));
  for (const of of answers.values()) {
    const [extra, own] = ['extra', column].map((name) => of.find(({ attribute }) => attribute === name));
    const both = (side: 'from_value' | 'to_value') => inExtra(extra?.[side] ?? null, path, own?.[side] ?? null);
    const [{ entity, changed_at: at, _answer_id: answer }] = of as [Line];
    await sql`insert into ${sql.table(`sluice.${log}`)} (${sql.join(key.map((it) => sql.ref(it)))}, attribute, changed_at, from_value, to_value, _answer_id)
      select ${sql.join((JSON.parse(entity) as (string | number)[]).map((it) => sql.lit(it)))}, 'extra', ${at}::timestamptz, ${both('from_value')}::text, ${both('to_value')}::text, ${answer}::bigint`.execute(
      warehouse.db,
    );
  }
}

/** Rows and logs as a version without the columns left them. */
async function beforeTheColumns(warehouse: Warehouse): Promise<void> {
  for (const it of COLUMNS) {
    const value = it.path
      .toReversed()
      .reduce<string>((inner, name) => `jsonb_build_object('${name}', ${inner})`, it.column);
    for (const statement of [
      `update sluice.${it.table} set extra = coalesce(extra, '{}') || ${value}, ${it.column} = null where ${it.column} is not null`,
      `insert into sluice_ops.changed_columns values ('${it.table}', '${it.column}')`,
    ])
      await sql.raw(statement).execute(warehouse.db);
    await logBefore(warehouse, it);
  }
  for (const table of ['pronet_users', 'pronet_user_educations', 'pronet_groups'])
    await sql
      .raw(
        `update sluice.${table} set _part_hashes = regexp_replace(_part_hashes, '[A-Za-z0-9_-]{22}', 'old', 'g'), _content_hash = 'old'`,
      )
      .execute(warehouse.db);
}

anyWarehouse('logged values of new columns', (open) => {
  it('move from extra, so that logs are as if the columns had always existed, and a replay adds nothing', async () => {
    const warehouse = await open();
    for (const [index, batch] of ANSWERS.entries()) await loadBatch(warehouse, batch, index + 1);
    const before = await rowsOf(warehouse, { machinery: true, volatile: true });
    const logged = `select user_urn_value, changed_at from sluice.pronet_user_changes where attribute = 'headline' and user_urn_value = 'ann'`;
    expect((await select(warehouse, logged)).length).toBe(3);
    await beforeTheColumns(warehouse);
    expect(await select(warehouse, logged)).toEqual([]);

    await fillColumns(warehouse, { ...realEffects, random: () => 0.5 });
    expect(await rowsOf(warehouse, { machinery: true, volatile: true })).toEqual(before);

    const versions = await versionsOf(warehouse);
    for (const [index, batch] of ANSWERS.entries()) await loadBatch(warehouse, batch, index + 1);
    expect(await versionsOf(warehouse)).toEqual(versions);
  });
});
