/** The disk of an embedded warehouse fills up, or its folder goes away, under a running sync: nothing is bought twice. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { copyEmbedded } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { door } from '../control/limiter-calls.ts';
import { select } from './rows.ts';
import { sentAgain, only, openScene, type Scene, service } from './scene.ts';

const MB = 2 ** 20;
/** Scarce enough that each statement looks at the disk. */
const PLENTY = 900 * MB;
const INPUTS = 12;
/** Each case of a shared warehouse asks for other groups. */
const configOf = (first: number): string => `${service({ in_flight: 3 })}
syncs:
  groups${first}:
    endpoint: pronet.group
    for_each: { group: [${Array.from({ length: INPUTS }, (_, index) => `"${first + index}"`).join(', ')}] }
    max_age: 30d
`;

interface Fixture {
  readonly folder: string;
  readonly scene: Scene;
  readonly spool: ReturnType<typeof openSpool>;
  free: number;
  /** Called with the number of each request, once three are in flight or more have arrived. */
  onRequest: (number: number) => Promise<void> | void;
  /** Begins with plenty of space, and counts requests from 1 again. */
  readonly begin: () => void;
  readonly close: () => Promise<void>;
}

const opened = (folder: string, freeBytes: () => number): Promise<Warehouse> =>
  openWarehouse({ url: new Secret(`embedded:${folder}`), schema: 'sluice' }, { ...realEffects, freeBytes });

async function openFixture(): Promise<Fixture> {
  const parent = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
  const folder = join(parent, 'warehouse');
  await copyEmbedded(folder);
  let three = door();
  let requests = 0;
  const state: Pick<Fixture, 'free' | 'onRequest'> = { free: PLENTY, onRequest: () => undefined };
  const warehouse = await opened(folder, () => state.free);
  const scene = await openScene(warehouse, {
    respond: async ({ endpoint }) => {
      if (endpoint === 'token.requests') return undefined;
      requests += 1;
      const number = requests;
      if (number >= 3) three.open();
      await three.opened;
      await state.onRequest(number);
      return undefined;
    },
  });
  return Object.assign(state, {
    folder,
    scene,
    spool: openSpool({ folder: join(parent, 'spool') }),
    begin: () => {
      [requests, three] = [0, door()];
      Object.assign(state, { free: PLENTY, onRequest: () => undefined });
    },
    close: async () => {
      await scene.sandbox.close();
      await warehouse.close();
      await rm(parent, { recursive: true, force: true });
    },
  });
}
const run = async ({ scene, spool }: Fixture, first = 1001) =>
  only(await scene.sync(configOf(first), { effects: { newId: randomUUID, spool } }));
const bought = ({ scene }: Fixture) => scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');

describe('a disk that fills up under a sync', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
  });
  beforeEach(() => fixture.begin());
  afterAll(() => fixture.close());

  it.each([
    ['to where answers can be stored and nothing more may be sent', 50 * MB, 0, 1001],
    ['to where no answer can be stored', 10 * MB, 3, 1101],
    ['to the last byte', 0, 3, 1201],
  ])('%s: exit 5, and with room again the next run buys the rest once', async (_, left, spooled, firstId) => {
    fixture.onRequest = (number) => {
      if (number === 5) fixture.free = left;
    };
    const full = await run(fixture, firstId);
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
    expect(await run(fixture, firstId).catch((error: unknown) => error)).toMatchObject({ exitCode: 5 });
    expect(bought(fixture)).toEqual([]);

    fixture.free = PLENTY;
    expect(await run(fixture, firstId)).toMatchObject({ exitCode: 0, inDoubt: 0, answers: 12 });
    const all = [...first, ...bought(fixture)];
    expect(sentAgain(all).size).toBe(0);
    expect(all).toHaveLength(12);
    expect(await spoolFiles(fixture.spool.folder)).toEqual([]);
  });

  it('is closed without a write when it has no room, and opens again with every row', async () => {
    expect(await run(fixture)).toMatchObject({ exitCode: 0 });
    const count = 'select count(*)::int as n from sluice_ops.answers';
    const before = await select(fixture.scene.warehouse, count);
    fixture.free = 0;
    await fixture.scene.warehouse.close();
    await expect(opened(fixture.folder, () => 20 * MB)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining(`The disk of the embedded warehouse in ${fixture.folder} has 20 MB`) as string,
    });
    const again = await opened(fixture.folder, () => PLENTY);
    onTestFinished(() => again.close());
    expect(await select(again, count)).toEqual(before);
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
    const fixture = await openFixture();
    onTestFinished(() => fixture.close());
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
