/** A run that is shared in chunks: its limits hold over all of them, and who comes late at one is refused. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { HeldError } from '../../src/errors.ts';
import type { ChunkResult } from '../../src/flow/run/chunk.ts';
import { acquireLease, REBUILD_LEASE } from '../../src/ledger/lease.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { groupsConfig, oneGroup, shared as sharedAs } from './chunks.ts';
import { disturbedAt, dyingAt, expireLeases, expireSlots, STEP } from './crash.ts';
import { until } from '../control/limiter-calls.ts';
import { select } from './rows.ts';
import { sentAgain, only, type Scene, sceneIn, service } from './scene.ts';

const open = postgresWarehouses();
const REQUESTS = 12;
const CHUNK = 4;

const config = (more = ''): string => groupsConfig(REQUESTS, more);
const shared = (scene: Scene, yaml: string) => sharedAs(scene, yaml, { chunkSize: CHUNK });
const respond = oneGroup;

it('a shared run is concluded once, by the worker of its last chunk, whatever the order', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  expect(orders.map(({ chunk }) => chunk)).toEqual([0, 1, 2]);

  expect(await work(orders[2])).toEqual({ as: 'done' });
  // The job of a chunk that has ended runs again while other chunks are open.
  expect(await work(orders[2])).toEqual({ as: 'done' });
  expect(await work(orders[0])).toEqual({ as: 'done' });
  expect(await work(orders[1])).toMatchObject({
    as: 'concluded',
    exitCode: 0,
    summary: { answers: REQUESTS, left: 0 },
  });
  // A job may run twice.
  expect(await work(orders[1])).toEqual({ as: 'concluded', exitCode: 0, state: 'complete' });
  expect(await work(orders[0])).toEqual({ as: 'void' });
  expect(scene.arrived()).toHaveLength(REQUESTS);
});

it('a shared run is over for a worker that read a chunk before its end: no lease starts again', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  const run = orders[0]?.runId ?? '';
  let late: Promise<unknown> = Promise.resolve();
  await scene.warehouse.db.transaction().execute(async (tx) => {
    await sql`lock table sluice_ops.leases in access exclusive mode`.execute(tx);
    late = expect(work(orders[1])).rejects.toThrow(HeldError);
    await until(async () => {
      const waiting = "wait_event_type = 'Lock' and datname = current_database()";
      return (await select(scene.warehouse, `select from pg_stat_activity where ${waiting}`)).length > 0;
    });
    // As another worker of the chunk ends it, concludes the run, and removes what it held.
    await sql`update sluice_ops.chunks set state = 'ended' where run_id = ${run}`.execute(tx);
    await sql`update sluice_ops.runs set state = 'complete', ended_at = now() where id = ${run}`.execute(tx);
    await sql`delete from sluice_ops.leases where name like 'chunk:%'`.execute(tx);
  });
  await late;
  expect(await select(scene.warehouse, "select name from sluice_ops.leases where name like 'chunk:%'")).toEqual([]);
  expect(scene.arrived()).toEqual([]);
  expect(await work(orders[1])).toEqual({ as: 'void' });
});

it('a worker reads the inputs of a shared run once, whatever the number of its chunks', async () => {
  const scene = await sceneIn(await open(), { respond });
  const query = `select 'n' || n as "group" from generate_series(1, ${REQUESTS}) n`;
  const yaml = config().replace(/for_each: .*/, `for_each: { group: { query: ${JSON.stringify(query)} } }`);
  const { orders, workAll } = await shared(scene, yaml);
  let queries = 0;
  const counting = {
    ...scene.warehouse,
    session: (...given: Parameters<Warehouse['session']>) => {
      queries += 1;
      return scene.warehouse.session(...given);
    },
  } as Warehouse;
  expect((await workAll(counting)).at(-1)).toMatchObject({ as: 'concluded', exitCode: 0 });
  expect([orders.length, queries]).toEqual([3, 1]);
});

it('a shared run keeps to a limit in points over all its chunks', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config('budget: { per_run: 6 }'));

  const ends: ChunkResult[] = [];
  for (const order of orders) ends.push(await work(order));

  expect(ends.at(-1)).toMatchObject({ as: 'concluded', exitCode: 6, summary: { state: 'out_of_points', left: 6 } });
  // The readings of the log for the limit are not among them.
  expect(scene.arrived().filter(({ endpoint }) => endpoint === 'pronet.group')).toHaveLength(6);
  // Shared again, its limit and its points are those of the second invocation.
  scene.clock.advance(1000);
  const again = await shared(scene, config('budget: { per_run: 5 }'));
  const last = [];
  for (const order of again.orders) last.push(await again.work(order));
  expect(ends.at(-1)).toMatchObject({ summary: { continued: false, points: 6 } });
  expect(last.at(-1)).toMatchObject({ summary: { continued: true, points: 11, pointsNow: 5, left: 1 } });
  // The plain sync continues with the remaining requests of all chunks.
  const rest = only(await scene.sync(config()));
  expect(rest).toMatchObject({ exitCode: 0, continued: true, answers: REQUESTS });
  expect(sentAgain(scene.sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.group')).size).toBe(0);
});

it('a shared run lists what a killed worker had in flight, also if another chunk stopped it', async () => {
  let isRefused = false;
  const scene = await sceneIn(await open(), {
    respond: (request) => (isRefused ? { status: 403, body: { detail: 'no' } } : oneGroup(request)),
  });
  const { orders, work } = await shared(scene, config().replace('pronet.group', 'pronet.group\n    in_doubt: stop'));
  const { warehouse } = dyingAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 });
  await expect(work(orders[1], { warehouse })).rejects.toThrow();
  await expireLeases(scene.warehouse);
  isRefused = true;
  await work(orders[0]);

  await work(orders[1]);
  const end = await work(orders[2]);

  expect(end).toMatchObject({ as: 'concluded', summary: { state: 'partial', lostAnswers: [{}] } });
  expect(await select(scene.warehouse, 'select attempt::int from sluice_ops.lost_answers')).toEqual([{ attempt: 1 }]);
});

it('a shared run has new leases each time it is shared', async () => {
  const scene = await sceneIn(await open(), { respond });
  await sql`create table public.taken as select name, holder, token from sluice_ops.leases`.execute(scene.warehouse.db);
  await sql`create function public.note() returns trigger language plpgsql as
    'begin insert into public.taken values (new.name, new.holder, new.token); return null; end'`.execute(
    scene.warehouse.db,
  );
  await sql`create trigger noted after insert on sluice_ops.leases for each row execute function public.note()`.execute(
    scene.warehouse.db,
  );
  const first = await shared(scene, config('budget: { per_run: 6 }'));
  for (const order of first.orders) await first.work(order);
  const again = await shared(scene, config());
  expect(again.orders.map(({ chunk, runId }) => ({ chunk, runId }))).toEqual(
    [1, 2].map((chunk) => ({ chunk, runId: first.orders[0]?.runId })),
  );
  // The end is reported to a worker that concluded the run before; that worker removes none of these.
  for (const order of first.orders) expect(await first.work(order)).toEqual({ as: 'void' });
  for (const order of again.orders) await again.work(order);
  expect(
    await select(
      scene.warehouse,
      "select name, token from public.taken where name like 'chunk:%' group by 1, 2 having count(distinct holder) > 1",
    ),
  ).toEqual([]);
  expect(await select(scene.warehouse, "select name from sluice_ops.leases where name like 'chunk:%'")).toEqual([]);
});

it('a shared run requests no one whom another chunk bought under another spelling of the same name', async () => {
  const scene = await sceneIn(await open());
  const bare = { with_creation_date: false, with_similar_users: false, with_posts: false };
  const users = [0, 1, 2, 3].map((at) => scene.sandbox.world.photoshare.item(at, bare, String, 1));
  const aliases = users.map((it) => String(it['alias']));
  const names = [...aliases, ...aliases.map((alias) => `@${alias}`)];
  const yaml = `${service()}
syncs: { users: { endpoint: photoshare.user, max_age: 1d, for_each: { user: ${JSON.stringify(names)} } } }`;
  const { orders, work } = await shared(scene, yaml);
  expect(orders).toHaveLength(2);
  expect(await work(orders[0])).toEqual({ as: 'done' });
  expect(scene.arrived()).toHaveLength(4);
  expect(await work(orders[1])).toMatchObject({ as: 'concluded', summary: { exitCode: 0, fresh: 4, sent: 4 } });
  expect(scene.arrived()).toEqual([]);
});

it('a shared run whose lease a plain sync took over is not processed any more', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  await expect(scene.sync(config())).resolves.toMatchObject({ exitCode: 7 });
  await expireLeases(scene.warehouse);
  expect(only(await scene.sync(config()))).toMatchObject({ exitCode: 0, continued: true, answers: REQUESTS });

  for (const order of orders) expect(await work(order)).toEqual({ as: 'void' });
  expect(scene.sandbox.requests()).toHaveLength(REQUESTS);
});

it('a shared run has one worker for a chunk, and a worker that wakes up late loads nothing', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  const ops = operationsOf(scene.warehouse);
  const other: { end?: ChunkResult } = {};
  // Between its second request and the load of the answer, another worker takes over the chunk and ends it.
  const late = disturbedAt(scene.warehouse, { when: 'after', statement: STEP.send, nth: 2 }, async () => {
    await expect(work(orders[0])).rejects.toThrow(HeldError);
    await ops
      .updateTable('leases')
      .set({ expires_at: '2000-01-01T00:00:00Z' })
      .where('name', 'like', 'chunk:%')
      .execute();
    await expireSlots(scene.warehouse);
    other.end = await work(orders[0]);
  });

  await expect(work(orders[0], { warehouse: late })).rejects.toThrow(HeldError);

  expect(other.end).toEqual({ as: 'done' });
  expect(
    await select(
      scene.warehouse,
      "select state, count(*)::int as n from sluice_ops.requests where sync = 'groups' group by 1 order by 1",
    ),
  ).toEqual([
    { state: 'loaded', n: CHUNK },
    { state: 'planned', n: REQUESTS - CHUNK },
  ]);
  // The requests that the late worker sent were in doubt, and are listed.
  expect(await select(scene.warehouse, 'select count(*)::int as n from sluice_ops.lost_answers')).toEqual([{ n: 1 }]);
  expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.pronet_groups')).toEqual([{ n: CHUNK }]);
});

it('a shared run is not executed under another definition: the next sync gives it up', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  expect(await work(orders[0])).toEqual({ as: 'done' });
  scene.arrived();
  const other = groupsConfig(2);
  for (const order of orders.slice(1)) expect(await work(order, { yaml: other })).toMatchObject({ as: 'outdated' });
  expect(scene.arrived()).toEqual([]);
  await expireLeases(scene.warehouse);
  expect(only(await scene.sync(other))).toMatchObject({ exitCode: 0, continued: false, answers: 2 });
  expect(await select(scene.warehouse, 'select id, state from sluice_ops.runs order by id')).toEqual([
    { id: '1', state: 'abandoned' },
    { id: '2', state: 'complete' },
  ]);
  for (const order of orders) expect(await work(order)).toEqual({ as: 'void' });
});

it('a shared run marks no days as read for another definition', async () => {
  const scene = await sceneIn(await open());
  const filingsOf = (form: string): string => `${service()}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { forms: [${form}], count: 100 }
    for_each: { entity_name: [A, B, C] }
    window: { from: 2026-02-02, to: 2026-02-06 }
`;
  const { orders, work } = await sharedAs(scene, filingsOf('10-K'), { chunkSize: 1 });
  for (const order of orders) await work(order, { yaml: filingsOf('10-Q') });
  expect(scene.arrived()).toEqual([]);
  await expireLeases(scene.warehouse);
  await scene.sync(filingsOf('10-Q'));
  const requested = scene.arrived().map(({ body }) => body as { forms: string[]; date_from: string });
  const [first] = requested;
  expect(first).toMatchObject({ forms: ['10-Q'], date_from: '2026-02-02' });
  expect(requested).toMatchObject([first, first, first].map((it) => ({ forms: it?.forms, date_from: it?.date_from })));
});

it('a shared run that no worker executed for 24 hours is given up, not revived', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  const idleFor = (hours: number) =>
    select(
      scene.warehouse,
      `update sluice_ops.leases set expires_at = clock_timestamp() - interval '${hours} hours' returning name`,
    );
  await idleFor(23);
  expect(await work(orders[0])).toEqual({ as: 'done' });
  scene.arrived();
  await idleFor(24);
  expect(await work(orders[1])).toMatchObject({ as: 'outdated' });
  expect(scene.arrived()).toEqual([]);
});

it('a shared run pauses while the tables are rebuilt', async () => {
  const scene = await sceneIn(await open(), { respond });
  const { orders, work } = await shared(scene, config());
  await expireLeases(scene.warehouse);
  await acquireLease(operationsOf(scene.warehouse), REBUILD_LEASE, 'a rebuild', false);
  await expect(work(orders[0])).rejects.toThrow(HeldError);
  expect(scene.arrived()).toEqual([]);
});
