/** Answers that a dead process stored for another sync: they are loaded before anything new is sent. */
import { expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { listQuarantine } from '../../src/ledger/quarantine.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { dyingAt, expireLeases, STEP } from './crash.ts';
import { rowsOf, select } from './rows.ts';
import { only, type Scene, sceneIn, sentAgain, service } from './scene.ts';

const users = (name: string): string => `  ${name}: { endpoint: microblog.user, for_each: { user: [acme_labs] } }\n`;
/** Its inputs are what the other sync has loaded. */
const CHILD = `  child:
    endpoint: photoshare.user
    for_each: { user: { query: "select alias as user from sluice.microblog_users" } }
`;
const FILINGS = `  filings:
    endpoint: sec.search.companies
    request: { count: 20 }
    window: { from: 2026-02-02, to: 2026-02-20 }
`;
const configOf = (...syncs: readonly string[]): string => `${service()}\nsyncs:\n${syncs.join('')}`;

/** Runs the syncs until the process dies after it has stored its nth answer. */
async function dieAfterAnswer(scene: Scene, nth: number, ...syncs: readonly string[]): Promise<void> {
  const dying = dyingAt(scene.warehouse, { when: 'after', statement: STEP.store, nth });
  await expect(scene.sync(configOf(...syncs), { warehouse: dying.warehouse })).rejects.toThrow(/^died/);
  expect(await unloaded(scene.warehouse)).toBe(1);
}

const unloaded = async (warehouse: Warehouse): Promise<number> =>
  Number(
    (await select<{ n: string }>(warehouse, 'select count(*) as n from sluice_ops.answers where loaded_at is null'))[0]
      ?.n,
  );
const profiles = async ({ warehouse }: Scene): Promise<number> =>
  (await select(warehouse, 'select rest_id from sluice.microblog_users')).length;
const stateOf = async ({ warehouse }: Scene, sync: string) =>
  (await readStatus(warehouse)).syncs.find((it) => it.sync === sync);

const noticesOf = ({ notices }: Scene): string[] => notices.map(({ message }) => message);

/** The sync that died has nothing left to load, and buys nothing again. */
async function expectNothingLeft(scene: Scene): Promise<void> {
  scene.arrived();
  expect(only(await scene.sync(configOf(users('profiles'))))).toMatchObject({ exitCode: 0, answers: 1, points: 1 });
  expect(await stateOf(scene, 'profiles')).toMatchObject({ unloaded: 0 });
  expect(scene.arrived()).toEqual([]);
}

anyWarehouse('a stored answer of a dead process', (open) => {
  it('is loaded before another sync plans; its own sync, which is in the config, can start meanwhile', async () => {
    const scene = await sceneIn(await open());
    await dieAfterAnswer(scene, 1, users('profiles'));
    await expireLeases(scene.warehouse);
    const lease = () => select(scene.warehouse, "select * from sluice_ops.leases where name = 'sync:profiles'");
    const before = await lease();

    const child = only(await scene.sync(configOf(users('profiles'), CHILD), { names: ['child'] }));

    expect(child).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await profiles(scene)).toBe(1);
    expect(noticesOf(scene)).toContain('loaded a stored answer that an interrupted run had left');
    // Chunks of a shared run end without work if its lease changes.
    expect(await lease()).toEqual(before);
    await expectNothingLeft(scene);
    // The other sync has loaded the rows, but they came from this answer, so it was not bought for nothing.
    const answers = 'select received, loaded, unchanged from sluice_ops.answers order by id limit 1';
    expect(await select(scene.warehouse, answers)).toEqual([{ received: '1', loaded: '1', unchanged: '0' }]);
    const costs = 'select new_rows, is_nothing_new from sluice.answer_costs order by answer_id limit 1';
    expect(await select(scene.warehouse, costs)).toEqual([{ new_rows: '1', is_nothing_new: false }]);
  });

  it('is loaded before another sync plans, and settled if its sync has another name now', async () => {
    const scene = await sceneIn(await open());
    await dieAfterAnswer(scene, 1, users('profiles'));
    await expireLeases(scene.warehouse);

    const child = only(await scene.sync(configOf(CHILD, users('renamed')), { names: ['child'] }));

    expect(child).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await profiles(scene)).toBe(1);
    expect(await stateOf(scene, 'profiles')).toMatchObject({ unloaded: 0 });
    expect(noticesOf(scene)).toContain('loaded a stored answer that an interrupted run had left');
    await expectNothingLeft(scene);
  });

  it('that another sync could not read, and its own sync can, leaves no entry in quarantine', async () => {
    const scene = await sceneIn(await open());
    await dieAfterAnswer(scene, 1, users('profiles'));
    await expireLeases(scene.warehouse);
    const [kept] = await select<{ body: Buffer }>(scene.warehouse, 'select body from sluice_ops.answers');
    const write = (hex: string) =>
      select(scene.warehouse, `update sluice_ops.answers set body = '\\x${hex}' returning id`);
    await write(`ff${kept?.body.toString('hex') ?? ''}`);
    await scene.sync(configOf(users('profiles'), CHILD), { names: ['child'] });
    expect(await listQuarantine(scene.warehouse, 10)).toHaveLength(1);
    await write(kept?.body.toString('hex') ?? '');

    const own = only(await scene.sync(configOf(users('profiles'))));

    expect(own).toMatchObject({ exitCode: 0, received: 1, loaded: 1, quarantined: 0 });
    expect(await listQuarantine(scene.warehouse, 10)).toEqual([]);
  });

  it('that leads to further requests is loaded by any sync, and leads to them when its own sync runs', async () => {
    const size = { filings: 20_000, companies: 40 };
    const undisturbed = await sceneIn(await open(), { size });
    await undisturbed.sync(configOf(FILINGS));
    const expected = await rowsOf(undisturbed.warehouse);
    const scene = await sceneIn(await open(), { size });
    await dieAfterAnswer(scene, 1, FILINGS);
    await expireLeases(scene.warehouse);
    const before = scene.arrived();

    await scene.sync(configOf(users('profiles')));

    expect(await select(scene.warehouse, 'select file_name from sluice.sec_filings')).toHaveLength(20);
    expect(await unloaded(scene.warehouse)).toBe(1);
    expect(only(await scene.sync(configOf(FILINGS)))).toMatchObject({ exitCode: 0, continued: true });
    expect(await unloaded(scene.warehouse)).toBe(0);
    const { microblog_users: _, ...rows } = await rowsOf(scene.warehouse);
    expect(rows['sec_filings']).toEqual(expected['sec_filings']);
    expect(sentAgain([...before, ...scene.arrived()])).toEqual(new Map());
  });

  it('that no run can continue any more is settled by any sync', async () => {
    const scene = await sceneIn(await open(), { size: { filings: 20_000, companies: 40 } });
    await dieAfterAnswer(scene, 1, FILINGS);
    await expireLeases(scene.warehouse);
    scene.clock.advance(DAY_MS + 1000);

    await scene.sync(configOf(users('profiles')));

    expect(await stateOf(scene, 'filings')).toMatchObject({ unloaded: 0 });
  });

  it('is left to the process that holds the lease of its sync', async () => {
    const scene = await sceneIn(await open());
    await dieAfterAnswer(scene, 1, users('profiles'));
    await select(
      scene.warehouse,
      `update sluice_ops.leases set expires_at = clock_timestamp() + interval '1 h' where name = 'sync:profiles' returning name`,
    );

    expect(only(await scene.sync(configOf(CHILD)))).toMatchObject({ exitCode: 0, sent: 0 });

    expect(await unloaded(scene.warehouse)).toBe(1);
  });
});
