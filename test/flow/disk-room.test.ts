/** The disk of an embedded warehouse fills up, or its folder goes away, under a running sync: nothing is bought twice. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { copyEmbedded } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { door } from '../control/limiter-calls.ts';
import { select } from './rows.ts';
import { sentAgain, only, type Scene, sceneIn, service } from './scene.ts';

const MB = 2 ** 20;
/** Scarce enough that each statement looks at the disk. */
const PLENTY = 900 * MB;
const IDS = Array.from({ length: 12 }, (_, index) => `"${1001 + index}"`).join(', ');
const CONFIG = `${service({ in_flight: 3 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${IDS}] }, max_age: 30d }
`;

interface Fixture {
  readonly folder: string;
  readonly scene: Scene;
  readonly spool: ReturnType<typeof openSpool>;
  free: number;
  /** Called with the number of each request, once three are in flight or more have arrived. */
  onRequest: (number: number) => Promise<void> | void;
}

const opened = async (folder: string, freeBytes: () => number) => {
  const warehouse = await openWarehouse(
    { url: new Secret(`embedded:${folder}`), schema: 'sluice' },
    { ...realEffects, freeBytes },
  );
  onTestFinished(() => warehouse.close());
  return warehouse;
};

async function fixtureOf(): Promise<Fixture> {
  const parent = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, 'warehouse');
  await copyEmbedded(folder);
  const three = door();
  const state: Pick<Fixture, 'free' | 'onRequest'> = { free: PLENTY, onRequest: () => undefined };
  const warehouse = await opened(folder, () => state.free);
  const scene = await sceneIn(warehouse, {
    respond: async ({ endpoint, number }) => {
      if (endpoint === 'token.requests') return undefined;
      if (number >= 3) three.open();
      await three.opened;
      await state.onRequest(number);
      return undefined;
    },
  });
  return Object.assign(state, { folder, scene, spool: openSpool({ folder: join(parent, 'spool') }) });
}
const run = async ({ scene, spool }: Fixture) =>
  only(await scene.sync(CONFIG, { effects: { newId: randomUUID, spool } }));
const bought = ({ scene }: Fixture) => scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');

describe('a disk that fills up under a sync', () => {
  it.each([
    ['to where answers can be stored and nothing more may be sent', 50 * MB, 0],
    ['to where no answer can be stored', 10 * MB, 3],
    ['to the last byte', 0, 3],
  ])('%s: exit 5, and with room again the next run buys the rest once', async (_, left, spooled) => {
    const fixture = await fixtureOf();
    fixture.onRequest = (number) => {
      if (number === 5) fixture.free = left;
    };
    const full = await run(fixture);
    expect(full).toMatchObject({ exitCode: 5 });
    expect(full.error).toMatch(
      /The disk of the embedded warehouse in \S+warehouse has \d+ MB of free space; \d+ MB are needed/,
    );
    expect(full.next).toMatch(/Free space on that disk|Run the sync again/);
    const first = bought(fixture);
    expect(first.length).toBeLessThanOrEqual(5 + 3);
    expect((await spoolFiles(fixture.spool.folder)).length).toBeLessThanOrEqual(3);
    if (spooled > 0) expect((await spoolFiles(fixture.spool.folder)).length).toBeGreaterThan(0);

    // Nothing is sent while it stays full.
    expect(await run(fixture).catch((error: unknown) => error)).toMatchObject({ exitCode: 5 });
    expect(bought(fixture)).toEqual([]);

    fixture.free = PLENTY;
    expect(await run(fixture)).toMatchObject({ exitCode: 0, inDoubt: 0, answers: 12 });
    const all = [...first, ...bought(fixture)];
    expect(sentAgain(all).size).toBe(0);
    expect(all).toHaveLength(12);
    expect(await spoolFiles(fixture.spool.folder)).toEqual([]);
  });

  it('is closed without a write when it has no room, and opens again with every row', async () => {
    const fixture = await fixtureOf();
    expect(await run(fixture)).toMatchObject({ exitCode: 0 });
    const count = 'select count(*)::int as n from sluice_ops.answers';
    const before = await select(fixture.scene.warehouse, count);
    fixture.free = 0;
    await fixture.scene.warehouse.close();
    await expect(opened(fixture.folder, () => 20 * MB)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining(`The disk of the embedded warehouse in ${fixture.folder} has 20 MB`) as string,
    });
    expect(await select(await opened(fixture.folder, () => PLENTY), count)).toEqual(before);
  });

  it('refuses to make a warehouse that does not fit', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
    onTestFinished(() => rm(parent, { recursive: true, force: true }));
    await expect(opened(join(parent, 'w'), () => 58 * MB)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining('has 58 MB of free space; 96 MB are needed') as string,
    });
  });
});

describe('a folder that goes away under a sync', () => {
  it.each([
    // The database may add a file meanwhile, which then stays.
    ['deleted', (folder: string) => rm(folder, { recursive: true, force: true }).catch(() => undefined)],
    ['moved', (folder: string) => rename(folder, `${folder}.moved`)],
  ])('%s: it ends with exit 5 and names the folder', async (_, remove) => {
    const fixture = await fixtureOf();
    fixture.onRequest = async (number) => {
      if (number === 5) await remove(fixture.folder);
    };
    const end = await run(fixture);
    expect(end).toMatchObject({ exitCode: 5 });
    expect(end.error).toContain(`was deleted or replaced while it was in use: ${fixture.folder}`);
    // Some are sent while the files go one by one.
    expect(bought(fixture).length).toBeLessThan(12);
  });
});
