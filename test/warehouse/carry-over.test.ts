/** A warehouse that the 20 migrations before the baseline built, as the file of the golden folder has it. */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { SchemaError } from '../../src/errors.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { withBaseline } from '../../src/warehouse/migrate/carry-over.ts';
import { dumpSchema } from '../support/dump-schema.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { ensureSchema, migrate, migrationStatus } from '../../src/warehouse/migrate/migrate.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const BEFORE = await readFile(new URL('../golden/before-baseline.sql', import.meta.url), 'utf8');
const GOLDEN = new URL('../golden/schema.sql', import.meta.url);
const RECORDED = [...BEFORE.matchAll(/^ {2}\('(\d{4}_\w+)'/gm)].map(([, name = '']) => name);
/** The first two of the 25 migrations that the 20 had replaced. */
const EARLIER = ['0001_operations', '0002_tables'];
const names = Object.keys(steps);
const LATER = names.filter((name) => name > '0009_photoshare');

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
      where n.nspname in ('sluice', 'sluice_ops') and c.relkind = 'r' and c.relname <> all (${MIGRATORS})
        and a.attnum > 0 and a.attidentity = '' and not a.attisdropped
      group by 1, 2, c.oid order by c.oid`.execute(trx);
    for (const { schema, table, columns, types } of rows) {
      const values = types.map((type) => VALUES[type] ?? `no value for ${type}`).join(', ');
      await sql`insert into ${sql.id(schema, table)} (${sql.join(columns.map((it) => sql.ref(it)))})
        values (${sql.raw(values)})`.execute(trx);
    }
  });
}
const MIGRATORS = ['kysely_migration', 'kysely_migration_lock', 'applied_views'];

interface WrittenRow {
  readonly writer: string;
  readonly row: Readonly<Record<string, unknown>>;
}
type Contents = ReadonlyMap<string, readonly WrittenRow[]>;

/** The rows of all tables as JSON by table, each with the transaction that wrote it. Columns without a value are left out. */
async function contents({ db }: Warehouse): Promise<Contents> {
  const tables = await sql<{ schema: string; table: string }>`
    select n.nspname as schema, c.relname as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('sluice', 'sluice_ops') and c.relkind = 'r' and c.relname <> all (${MIGRATORS})
    order by 1, 2`.execute(db);
  const found = new Map<string, readonly WrittenRow[]>();
  for (const { schema, table } of tables.rows) {
    const { rows } =
      await sql<WrittenRow>`select xmin::text as writer, jsonb_strip_nulls(to_jsonb(t)) as row from ${sql.id(schema, table)} t`.execute(
        db,
      );
    found.set(table, rows);
  }
  return found;
}

/** The contents without the tables and columns that later migrations added. Each table has one row. */
const withoutLater = (after: Contents, before: Contents): Contents =>
  new Map(
    [...before].map(([table, [former]]) => [
      table,
      (after.get(table) ?? []).map(({ writer, row }) => ({
        writer,
        row: Object.fromEntries(Object.entries(row).filter(([column]) => column in (former?.row ?? {}))),
      })),
    ]),
  );

const recorded = async ({ db, ops }: Warehouse): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.id(ops, 'kysely_migration')} order by name`.execute(db);
  return rows.map(({ name }) => name);
};

/** Replaces the record of applied migrations. */
async function record({ db, ops }: Warehouse, applied: readonly string[]): Promise<void> {
  await sql`delete from ${sql.id(ops, 'kysely_migration')}`.execute(db);
  for (const [index, name] of applied.entries())
    await sql`insert into ${sql.id(ops, 'kysely_migration')} values (${name}, ${new Date(index).toISOString()})`.execute(
      db,
    );
}

const options = async ({ db }: Warehouse) =>
  (await sql`select relname, reloptions from pg_class where reloptions is not null order by 1`.execute(db)).rows;

eachWarehouse('a warehouse from before the baseline', (open, kind) => {
  /** Each test leaves it as it was, up to the one that carries it over. */
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open({ migrated: false });
    await build(warehouse);
  });

  it.each([
    ['some of its migrations are missing', RECORDED.filter((name) => name < '0021'), 18],
    ['it has the migrations before these', EARLIER, 0],
  ])('is refused with a way out if %s, and stays as it was', async (_why, applied, count) => {
    await record(warehouse, applied);
    const before = await contents(warehouse);
    const attempts = [ensureSchema, (it: Warehouse) => migrate(it, 'up'), (it: Warehouse) => migrate(it, 'down')];
    for (const attempt of attempts) {
      const refusal = attempt(warehouse);
      await expect(refusal).rejects.toThrow(SchemaError);
      await expect(refusal).rejects.toMatchObject({
        exitCode: 8,
        message: `The schema sluice has ${count} of the 20 migrations that the baseline replaced, and this version cannot complete them.`,
        next: expect.stringMatching(/Run sluice migrate with commit [0-9a-f]{7} of Sluice/),
      });
    }
    expect((await migrationStatus(warehouse)).state).toBe('older');
    expect(await recorded(warehouse)).toEqual(applied);
    expect(await contents(warehouse)).toEqual(before);
    await record(warehouse, RECORDED);
  });

  it('is refused as newer if it has another migration too', async () => {
    await record(warehouse, [...RECORDED, '9999_later']);
    await expect(migrate(warehouse, 'up')).rejects.toThrow('it has the migrations 9999_later');
    expect(await recorded(warehouse)).toEqual([...RECORDED, '9999_later']);
    await record(warehouse, RECORDED);
  });

  it('keeps its record if the migration fails', async () => {
    await sql`create table sluice.sync_runs (id int)`.execute(warehouse.db);
    await expect(migrate(warehouse, 'up')).rejects.toThrow('"sync_runs" is not a view');
    expect(await recorded(warehouse)).toEqual(RECORDED);
    await sql`drop table sluice.sync_runs`.execute(warehouse.db);
  });

  it('is carried over with its rows, which nothing writes, and equals a new one', { timeout: 240_000 }, async () => {
    const before = await contents(warehouse);
    expect(before.size).toBeGreaterThan(80);
    expect([...before.values()].every((rows) => rows.length === 1)).toBe(true);
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
    expect(await recorded(warehouse)).toEqual(names);
    expect(withoutLater(await contents(warehouse), before)).toEqual(before);
    expect(await dumpSchema(warehouse)).toBe(await readFile(GOLDEN, 'utf8'));
    expect(await schemaDrift(warehouse)).toEqual([]);
    // The golden file does not show the room in the pages of the ledger.
    expect(await options(warehouse)).toContainEqual({ relname: 'requests', reloptions: ['fillfactor=50'] });
    expect(await options(warehouse)).toEqual(await options(await open()));
    const reverted: string[] = [];
    const allTheWay = async (): Promise<void> => {
      for (;;) reverted.push(...(await migrate(warehouse, 'down')));
    };
    await expect(allTheWay()).rejects.toThrow('Reverting the last migration would delete the data in');
    expect(reverted).toEqual(LATER.toReversed().slice(0, reverted.length));
    expect(withoutLater(await contents(warehouse), before)).toEqual(before);
  });

  it('needs no migration if it has the present views, and the next one carries it over', async () => {
    const current = await open();
    await sql`create view public.mine as select sync from sluice.sync_runs`.execute(current.db);
    await record(current, [...RECORDED, ...LATER]);
    expect(await migrationStatus(current)).toMatchObject({ state: 'current', unknown: [] });
    await ensureSchema(current);
    expect(await recorded(current)).toContain(RECORDED[0]);
    expect(await migrate(current, 'up')).toEqual([]);
    expect(await recorded(current)).toEqual(names);
    expect(await dumpSchema(current)).toBe(await readFile(GOLDEN, 'utf8'));
    await sql`select sync from public.mine`.execute(current.db);
    await sql`drop view public.mine`.execute(current.db);
  });

  if (kind === 'postgres')
    it('is carried over once by several migrators, in a schema of any name', async () => {
      const other = await open({ schema: 'My "odd" schema' });
      await record(other, [...RECORDED, ...LATER]);
      expect(await Promise.all([1, 2, 3, 4].map(() => migrate(other, 'up')))).toEqual([[], [], [], []]);
      expect(await recorded(other)).toEqual(names);
      expect((await migrationStatus(other)).state).toBe('current');
    });
});

it('migrations that a checkout added to the 20 stay applied after the baseline', () => {
  const applied = new Map([...RECORDED, '0023_mine'].map((name, index) => [name, new Date(index)]));
  const baseline = names.filter((name) => !LATER.includes(name)).map((name) => [name, new Date(0)]);
  expect([...withBaseline(applied)]).toEqual([...baseline, ['0023_mine', new Date(20)]]);
});

it('the names of the baseline are unknown to versions from before it, which therefore refuse the schema', () => {
  expect(RECORDED).toHaveLength(20);
  expect(names.filter((name) => RECORDED.includes(name) || EARLIER.includes(name))).toEqual([]);
});
