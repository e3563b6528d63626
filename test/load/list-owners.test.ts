/** Concurrent loads, deletions of owners and killed connections leave no row of a list without its owner. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { drawing } from '../../src/sandbox/world/draw.ts';
import { listKeyDrift } from '../../src/warehouse/migrate/list-keys.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { countOf } from '../support/long.ts';
import { postgresWarehouses } from '../support/warehouse.ts';

const LOADS = countOf(150, 1_000);
const WRITERS = 4;
/** Few, so that writers and deletions meet. */
const ENTITIES = 6;

/** Numbers that look random and are the same in each run. */
function randomOf(seed: number): (below: number) => number {
  const draw = drawing(seed)('list owners');
  let index = 0;
  return (below) => draw((index += 1)) % below;
}

const words = (random: (below: number) => number): string[] =>
  Array.from({ length: random(4) }, () => `word ${random(3)}`);

/** Filings and profiles with lists of changing length. */
const answers = [
  (random: (below: number) => number) => ({
    endpoint: 'sec.search.companies',
    request: { entity_name: 'one', count: 100 },
    items: Array.from({ length: 3 }, () => ({
      accession_number: `filing ${random(ENTITIES)}`,
      file_name: 'f',
      document_url: 'u',
      display_names: words(random),
      items: words(random),
    })),
  }),
  (random: (below: number) => number) => ({
    endpoint: 'photoshare.user',
    request: { user: 'one', with_posts: true },
    items: [
      {
        id: `user ${random(ENTITIES)}`,
        alias: 'a',
        name: 'n',
        url: 'u',
        hashtags: words(random),
        posts: [{ id: `post ${random(ENTITIES)}`, code: 'c', url: 'u', image: 'i', media: words(random) }],
      },
    ],
  }),
];

async function write(warehouse: Warehouse, seed: number): Promise<number> {
  const random = randomOf(seed);
  let loaded = 0;
  for (let index = 0; index < LOADS; index += 1) {
    const { endpoint, request, items } = (answers[random(2)] as (typeof answers)[0])(random);
    const batch = batchOf(endpoint, request, items);
    // A killed connection fails its load, and the next load gets another connection.
    loaded += await loadBatch(warehouse, batch, 1 + seed + index * WRITERS).then(
      () => 1,
      () => 0,
    );
  }
  return loaded;
}

/**
 * A load that finds a row deleted between its read and its lock inserts it while it holds other rows. Postgres may then
 * end a deletion that waits between two such loads; a load that is ended instead would be tried again.
 */
function throwUnlessDeadlocked(error: unknown): void {
  if ((error as { code?: string }).code !== '40P01') throw error;
}

/** Deletes owners, as `forget` and people do, and kills connections at work, until the writers are done. */
async function disturb(warehouse: Warehouse, isDone: () => boolean): Promise<number> {
  const random = randomOf(99);
  let disturbances = 0;
  while (!isDone()) {
    const number = random(ENTITIES);
    if (random(4) === 0)
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
        order by random() limit 1`.execute(warehouse.db);
    else
      await (random(2) === 0
        ? sql`delete from sluice.sec_filings where accession_number = ${`filing ${number}`}`
        : sql`delete from sluice.photoshare_users where id = ${`user ${number}`}`
      )
        .execute(warehouse.db)
        .catch(throwUnlessDeadlocked);
    disturbances += 1;
  }
  return disturbances;
}

const open = postgresWarehouses();

it('rows of lists stay with their owners under concurrent loads, deletions and kills', async () => {
  const warehouse = await open();
  let isDone = false;
  const disturbing = disturb(warehouse, () => isDone);
  const writers = await Promise.all(Array.from({ length: WRITERS }, (_, seed) => write(warehouse, seed)));
  isDone = true;
  expect(await disturbing).toBeGreaterThan(50);
  expect(Math.min(...writers)).toBeGreaterThan(LOADS / 4);
  expect(await listKeyDrift(warehouse.db, warehouse)).toEqual([]);
  // The rows that the storm left can be loaded on.
  expect(await write(warehouse, LOADS * WRITERS)).toBe(LOADS);
  expect(await listKeyDrift(warehouse.db, warehouse)).toEqual([]);
  const { rows } = await sql`select from sluice.sec_filing_display_names limit 1`.execute(warehouse.db);
  expect(rows).toHaveLength(1);
});
