import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { applyComments } from '../../src/warehouse/migrate/comments.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { dictionary } from '../../src/warehouse/schema/dictionary.ts';
import { ensureSchema, migrate } from '../../src/warehouse/migrate/migrate.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const MIGRATORS = ['kysely_migration', 'kysely_migration_lock', 'applied_views'];

async function liveComments({ db }: Warehouse): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ place: string; text: string | null }>`
    select concat_ws('.', n.nspname, c.relname, a.attname) as place,
      case when a.attname is null then obj_description(c.oid, 'pg_class') else col_description(c.oid, a.attnum) end as text
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select null::name as attname, 0 as attnum
      union all
      select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
    ) a
    where n.nspname in ('sluice', 'sluice_ops') and c.relkind in ('r', 'v')`.execute(db);
  return new Map(rows.map(({ place, text }) => [place, text]));
}

eachWarehouse('comments', (open, kind) => {
  it('are on every table, view and column, as the dictionary has them', async () => {
    const described = dictionary().flatMap(({ area, table, about, columns }) => {
      const place = `${area === 'analyst' ? 'sluice' : 'sluice_ops'}.${table}`;
      return [[place, about] as const, ...columns.map((it) => [`${place}.${it.name}`, it.about] as const)];
    });
    const live = await liveComments(await open());
    const declared = [...live].filter(([place]) => !MIGRATORS.some((it) => place.startsWith(`sluice_ops.${it}`)));
    expect(new Map(declared)).toEqual(new Map(described));
    expect(live.size).toBeGreaterThan(declared.length + MIGRATORS.length);
    expect([...live.values()]).not.toContain(null);
    expect(live.size).toBeGreaterThan(500);
  });

  it('are written only where they differ, and with every migrate', async () => {
    const warehouse = await open();
    const apply = () => warehouse.db.transaction().execute((trx) => applyComments(trx, warehouse));
    expect(await apply()).toBe(0);
    await sql`comment on table sluice.web_pages is 'x'`.execute(warehouse.db);
    await sql`comment on view sluice.sync_inputs is null`.execute(warehouse.db);
    await sql`comment on column sluice_ops.runs.sync is 'x'`.execute(warehouse.db);
    expect(await apply()).toBe(3);
    expect(await apply()).toBe(0);
    await sql`comment on table sluice.web_pages is 'x'`.execute(warehouse.db);
    await migrate(warehouse, 'up');
    expect((await liveComments(warehouse)).get('sluice.web_pages')).toBe(
      dictionary().find(({ table }) => table === 'web_pages')?.about,
    );
  });

  it(`are ${kind === 'embedded' ? 'written' : 'left to a person'} at a start that finds the schema current`, async () => {
    const warehouse = await open();
    await sql`comment on table sluice.web_pages is 'x'`.execute(warehouse.db);
    await ensureSchema(warehouse);
    const declared = dictionary().find(({ table }) => table === 'web_pages')?.about;
    expect((await liveComments(warehouse)).get('sluice.web_pages')).toBe(kind === 'embedded' ? declared : 'x');
  });
});
