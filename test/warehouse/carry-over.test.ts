/** A warehouse that the 25 migrations before the baseline built, as the file of the golden folder has it. */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { SchemaError } from '../../src/errors.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { dumpSchema } from '../support/dump-schema.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { ensureSchema, migrate, migrationStatus } from '../../src/warehouse/migrate/migrate.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import { IS_LONG } from '../support/long.ts';
import { revertTo } from '../support/revert-to.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const BEFORE = await readFile(new URL('../golden/before-baseline.sql', import.meta.url), 'utf8');
const GOLDEN = new URL('../golden/schema.sql', import.meta.url);
const RECORDED = [...BEFORE.matchAll(/^ {2}\('(\d{4}_\w+)'/gm)].map(([, name = '']) => name);
const TABLES = [...BEFORE.matchAll(/^create table "(\w+)"/gm)].map(([, name = '']) => name);

/** A value for every type of column, the same in every table, so that foreign keys are satisfied. */
const VALUES: Readonly<Record<string, string>> = {
  text: `'x'`,
  bigint: '1',
  numeric: '1.5',
  'double precision': '0.5',
  boolean: 'true',
  date: `'2026-02-03'`,
  'timestamp with time zone': `'2026-02-03 04:05:06+00'`,
  uuid: `'6f9619ff-8b86-d011-b42d-00c04fc964ff'`,
  jsonb: `'{"a": 1}'`,
  bytea: String.raw`'\x01ff'`,
};

/** Builds the schema from before the baseline and writes a row to each of its tables. */
async function build({ db }: Warehouse): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const statement of BEFORE.trim().split(';\n')) await sql.raw(statement).execute(trx);
    const { rows } = await sql<{ schema: string; table: string; columns: string[]; types: string[] }>`
      select n.nspname as schema, c.relname as table, array_agg(a.attname::text order by a.attnum) as columns,
        array_agg(format_type(a.atttypid, null) order by a.attnum) as types
      from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('sluice', 'sluice_ops') and c.relkind = 'r' and a.attnum > 0 and a.attidentity = ''
      group by 1, 2`.execute(trx);
    for (const table of TABLES) {
      const { schema = '', columns = [], types = [] } = rows.find((it) => it.table === table) ?? {};
      const values = types.map((type) => VALUES[type] ?? `no value for ${type}`).join(', ');
      await sql`insert into ${sql.id(schema, table)} (${sql.join(columns.map((it) => sql.ref(it)))})
        values (${sql.raw(values)})`.execute(trx);
    }
    await sql`update sluice_ops.runs set summary = null`.execute(trx);
  });
}

type Row = Readonly<Record<string, unknown>>;

/** The rows of all tables, as JSON by table. */
async function contents({ db }: Warehouse): Promise<ReadonlyMap<string, readonly Row[]>> {
  const tables = await sql<{ schema: string; table: string }>`
    select n.nspname as schema, c.relname as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('sluice', 'sluice_ops') and c.relkind = 'r' and c.relname <> all (${MIGRATORS})
    order by 1, 2`.execute(db);
  const found = new Map<string, readonly Row[]>();
  for (const { schema, table } of tables.rows) {
    const { rows } = await sql<{ row: Row }>`select to_jsonb(t) as row from ${sql.id(schema, table)} t`.execute(db);
    found.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  return found;
}
const MIGRATORS = ['kysely_migration', 'kysely_migration_lock', 'applied_views'];

const RENAMED_TABLES: Readonly<Record<string, string>> = {
  gate_slots: 'limiter_slots',
  gate_paces: 'limiter_paces',
  doubts: 'lost_answers',
};
/** Columns that later versions added, which are null in earlier rows, by table. */
const ADDED_COLUMNS: Readonly<Record<string, Row>> = {
  runs: { scope: null, tags: null },
  drift: { answers: null },
  coverage: { former: null },
  alerts: { config: null },
};
/** Values that later versions wrote anew, by table. */
const CHANGED: Readonly<Record<string, Row>> = { runs: { quote: { most: 2, confidence: 'some' } } };
const RENAMED_COLUMNS: Readonly<Record<string, string>> = { gate: 'token_digest', sure: 'match_kind' };

/** The same rows under the present names, without the column that was never written, and with added columns. */
function withPresentNames(before: ReadonlyMap<string, readonly Row[]>): ReadonlyMap<string, readonly Row[]> {
  const present = ([name, value]: [string, unknown]): [string, unknown] => [RENAMED_COLUMNS[name] ?? name, value];
  return new Map(
    [...before].map(([table, rows]) => [
      RENAMED_TABLES[table] ?? table,
      rows.map((row) => {
        const { summary: _, ...rest } = row;
        return { ...Object.fromEntries(Object.entries(rest).map(present)), ...ADDED_COLUMNS[table], ...CHANGED[table] };
      }),
    ]),
  );
}

const recorded = async ({ db }: Warehouse): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from sluice_ops.kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
};

const options = async ({ db }: Warehouse) =>
  (await sql`select relname, reloptions from pg_class where reloptions is not null order by 1`.execute(db)).rows;

eachWarehouse('a warehouse from before the baseline', (open, kind) => {
  /** Each test leaves it as it was, up to the last. */
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open({ migrated: false });
    await build(warehouse);
  });

  it('is refused with a way out if some of its migrations are missing, and stays as it was', async () => {
    const { rows: deleted } = await sql<{ name: string; timestamp: string }>`
      delete from sluice_ops.kysely_migration where name >= '0027' returning name, timestamp`.execute(warehouse.db);
    const before = await contents(warehouse);
    const attempts = [ensureSchema, (it: Warehouse) => migrate(it, 'up'), (it: Warehouse) => migrate(it, 'down')];
    for (const attempt of attempts) {
      const refusal = attempt(warehouse);
      await expect(refusal).rejects.toThrow(SchemaError);
      await expect(refusal).rejects.toMatchObject({
        exitCode: 8,
        message:
          'The schema sluice has 22 of the 25 migrations that the baseline replaced, and this version cannot complete them.',
        next: expect.stringMatching(/Run sluice migrate with commit [0-9a-f]{7} of Sluice/),
      });
    }
    expect((await migrationStatus(warehouse)).state).toBe('older');
    expect(await recorded(warehouse)).toEqual(RECORDED.filter((name) => name < '0027'));
    expect(await contents(warehouse)).toEqual(before);
    for (const { name, timestamp } of deleted)
      await sql`insert into sluice_ops.kysely_migration values (${name}, ${timestamp})`.execute(warehouse.db);
    expect(await recorded(warehouse)).toEqual(RECORDED);
  });

  it('is refused as newer if it has another migration too', async () => {
    await sql`insert into sluice_ops.kysely_migration values ('9999_later', '2100-01-01T00:00:00.000Z')`.execute(
      warehouse.db,
    );
    await expect(migrate(warehouse, 'up')).rejects.toThrow('it has the migrations 9999_later');
    expect(await recorded(warehouse)).toEqual([...RECORDED, '9999_later']);
    await sql`delete from sluice_ops.kysely_migration where name = '9999_later'`.execute(warehouse.db);
  });

  it('is carried over with its rows, equals a new one, and is carried back', { timeout: 240_000 }, async () => {
    await sql`update sluice_ops.runs set quote = '{"most": 2, "sure": "some"}'`.execute(warehouse.db);
    const before = await contents(warehouse);
    expect(before.size).toBeGreaterThan(65);
    expect([...before.values()].every((rows) => rows.length === 1)).toBe(true);
    await sql`create view public.mine as select sync from sluice.sync_runs`.execute(warehouse.db);
    expect((await migrationStatus(warehouse)).state).toBe('older');
    if (kind === 'embedded') await ensureSchema(warehouse);
    else {
      await expect(ensureSchema(warehouse)).rejects.toMatchObject({
        exitCode: 8,
        message: expect.stringContaining('The schema sluice is older than this version of Sluice: it lacks'),
        next: 'Run sluice migrate.',
      });
      await migrate(warehouse, 'up');
    }
    expect((await migrationStatus(warehouse)).state).toBe('current');
    expect(await recorded(warehouse)).toEqual(Object.keys(steps));
    const [present, after] = [withPresentNames(before), await contents(warehouse)];
    expect(new Map([...after].filter(([table]) => present.has(table)))).toEqual(present);
    expect([...after].filter(([table, rows]) => !present.has(table) && rows.length > 0)).toEqual([]);
    expect(await dumpSchema(warehouse)).toBe(await readFile(GOLDEN, 'utf8'));
    expect(await schemaDrift(warehouse)).toEqual([]);
    // The golden file does not show the room in the pages of the ledger.
    expect(await options(warehouse)).toContainEqual({ relname: 'requests', reloptions: ['fillfactor=50'] });
    expect(await options(warehouse)).toEqual(await options(await open()));
    expect((await sql`select sync from public.mine`.execute(warehouse.db)).rows).toEqual([{ sync: 'x' }]);
    await sql`drop view public.mine`.execute(warehouse.db);
    // The statements of the steps back are those of both kinds, and each step takes 0.4 s on the embedded one.
    if (kind === 'embedded' && !IS_LONG) return;
    await revertTo(warehouse, '0008_plain_names');
    expect(await contents(warehouse)).toEqual(before);
    await expect(migrate(warehouse, 'down')).rejects.toThrow('Reverting the last migration would delete the data in');
    expect(await contents(warehouse)).toEqual(before);
  });

  if (kind === 'postgres')
    it('is carried over once by several migrators', async () => {
      const other = await open({ migrated: false });
      await build(other);
      const done = await Promise.all([1, 2, 3, 4].map(() => migrate(other, 'up')));
      expect(new Set(done.flat()).size).toBe(done.flat().length);
      expect(await recorded(other)).toEqual(Object.keys(steps));
    });
});

it('the names of the baseline are unknown to a version from before it, which therefore refuses the schema', () => {
  expect(RECORDED).toHaveLength(25);
  expect(Object.keys(steps).filter((name) => RECORDED.includes(name))).toEqual([]);
});
