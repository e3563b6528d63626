/** A server that gives fewer connections than a process would use. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, inject, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { inLongTransaction } from '../../src/warehouse/connect/long-work.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { execute, freshDatabase } from '../support/database.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { realEffects } from '../support/warehouse.ts';

/** An empty warehouse of a role that may have so many connections, and what opens it. */
async function limitedTo(most: number): Promise<{ readonly open: () => Promise<Warehouse> }> {
  const server = inject('postgresUrl');
  const role = `few_${randomBytes(6).toString('hex')}`;
  await execute(server, `create role ${role} login password 'few' connection limit ${most}`);
  onTestFinished(() => execute(server, `drop role ${role}`));
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const url = new URL(database.url);
  await execute(database.url, `alter database ${url.pathname.slice(1)} owner to ${role}`);
  url.username = role;
  url.password = 'few';
  return {
    open: async () => {
      const warehouse = await openWarehouse({ url: new Secret(url.href), schema: 'sluice' }, realEffects);
      onTestFinished(() => warehouse.close());
      return warehouse;
    },
  };
}

it.each([1, 2, 3])('statements wait for one of %i connections that are left', async (most) => {
  const { open } = await limitedTo(most);
  const warehouse = await open();
  const numbers = Array.from({ length: 12 }, (_, number) => number);
  const answered = await Promise.all(
    numbers.map(async (number) => {
      const { rows } = await sql<{ number: number }>`
        select ${number}::int as number, pg_sleep(0.02)`.execute(warehouse.db);
      return rows[0]?.number;
    }),
  );
  expect(answered).toEqual(numbers);
});

it('a statement that fails gives its connection to the next', async () => {
  const { open } = await limitedTo(1);
  const warehouse = await open();
  const ends = await Promise.allSettled(
    [0, 1, 0, 1].map((divisor) => sql`select 1 / ${divisor}::int, pg_sleep(0.02)`.execute(warehouse.db)),
  );
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
});

it('a process without a connection of its own gets an error that says so', async () => {
  const { open } = await limitedTo(1);
  await open();
  await expect(open()).rejects.toMatchObject({
    exitCode: 5,
    message: 'The database has no connection left.',
    next: expect.stringContaining('or CONNECTION LIMIT of the role or database'),
  });
});

it.each([
  { most: 1, atOnce: 1 },
  { most: 3, atOnce: 1 },
  { most: 5, atOnce: 2 },
  { most: 20, atOnce: 4 },
])('of $most connections, long work has $atOnce', async ({ most, atOnce }) => {
  const { open } = await limitedTo(most);
  const warehouse = await open();
  const short = (): Promise<unknown> => sql`select pg_sleep(0.02)`.execute(warehouse.db);
  // The pool finds the limit.
  await Promise.all(Array.from({ length: 12 }, short));

  let running = 0;
  const counts: number[] = [];
  const long = (): Promise<unknown> =>
    inLongTransaction(warehouse, async (tx) => {
      counts.push((running += 1));
      await sql`select pg_sleep(0.02)`.execute(tx);
      running -= 1;
    });
  await Promise.all(Array.from({ length: 12 }, () => [long(), short()]).flat());
  expect(counts).toHaveLength(12);
  expect(Math.max(...counts)).toBe(atOnce);
});

it.each([1, 2])('a run uses %i connections if it gets no more', async (most) => {
  const { open } = await limitedTo(most);
  const warehouse = await open();
  await ensureSchema(warehouse);
  const { exitCode, syncs } = await runQuickstart(warehouse);
  expect([exitCode, syncs.map(({ error }) => error).filter((error) => error !== null)]).toEqual([0, []]);
});
