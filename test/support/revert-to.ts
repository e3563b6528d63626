/** Reverts migrations of a warehouse down to one of them. */
import { expect } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { migrate } from '../../src/warehouse/migrate/migrate.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';

/** Reverts the last migrations, one at a time, up to and including this one. */
export async function revertTo(warehouse: Warehouse, last: string): Promise<void> {
  const names = Object.keys(steps).toSorted();
  for (const name of names.slice(names.indexOf(last)).toReversed())
    expect(await migrate(warehouse, 'down')).toEqual([name]);
}
