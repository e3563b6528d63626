import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { analyzeTables } from '../../src/warehouse/connect/analyze.ts';
import { eachWarehouse } from '../support/warehouse.ts';

eachWarehouse('maintenance', (open, kind) => {
  it(`updates the planner's row counts${kind === 'embedded' ? ', and reclaims the dead ones' : ''}`, async () => {
    const warehouse = await open();
    const pages = async () => {
      const { rows } = await sql<{ rows: number; pages: string }>`
        select reltuples::float8 as rows, pg_relation_size('sluice_ops.marks') / 8192 as pages from pg_class where oid = 'sluice_ops.marks'::regclass`.execute(
        warehouse.db,
      );
      return rows[0];
    };
    await sql`insert into sluice_ops.marks select 's', n::text, repeat('x', 1000), now() from generate_series(1, 1000) n`.execute(
      warehouse.db,
    );
    await sql`delete from sluice_ops.marks where name::int > 10`.execute(warehouse.db);
    expect(await pages()).toMatchObject({ rows: -1 });
    await analyzeTables(warehouse, [
      { area: 'operations', table: 'marks' },
      { area: 'operations', table: 'marks' },
      { area: 'analyst', table: 'web_pages' },
    ]);
    const after = await pages();
    expect(after?.rows).toBe(10);
    if (kind === 'embedded') expect(Number(after?.pages)).toBeLessThan(10);
    else expect(Number(after?.pages)).toBeGreaterThan(100);
  });

  it('stops when its signal aborts', async () => {
    const warehouse = await open();
    const stopped = analyzeTables(
      warehouse,
      [{ area: 'analyst', table: 'no_such_table' }],
      AbortSignal.abort(new Error('enough')),
    );
    await expect(stopped).rejects.toThrow('enough');
  });
});
