/** A spool that the ledger names and no process can find: its requests stay open and listed until it is back or given up. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { forget } from '../../src/flow/erasure/forget.ts';
import { readStatus } from '../../src/insight/status.ts';
import { openSpool, type Spool } from '../../src/recovery/spool/files.ts';
import { findableSpools } from '../../src/recovery/spool/find-spools.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { shared } from '../flow/chunks.ts';
import { dyingAt, expireLeases, STEP } from '../flow/crash.ts';
import { failingFrom } from '../flow/failing.ts';
import { door } from '../control/limiter-calls.ts';
import { select, states } from '../flow/rows.ts';
import { withStatementSpy } from '../flow/statement-spy.ts';
import { sentAgain, only, type Scene, sceneIn, service, type SyncMore } from '../flow/scene.ts';

const CONFIG = `${service({ in_flight: 3 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003", "1004", "1005"] }, max_age: 30d }
`;
const gone = (): Error => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
/** The folder `spool` of a new folder, or of the one given. */
const spoolIn = async (folder?: string): Promise<Spool> =>
  openSpool({ folder: join(folder ?? (await folderOf()), 'spool') });

const answersIn = async (folder: string): Promise<string[]> =>
  Promise.all((await spoolFiles(folder)).map((file) => readFile(join(folder, file), 'utf8')));

/** Every test runs several processes, each with ids of its own. */
const processWith = (spool?: Spool): Pick<SyncMore, 'effects'> => ({
  effects: { newId: randomUUID, ...(spool && { spool }) },
});

/** Answers only once three calls are in flight. */
function threeAtOnce() {
  const three = door();
  return {
    respond: async ({ endpoint, number }: { readonly endpoint: string; readonly number: number }) => {
      if (endpoint === 'token.requests') return undefined;
      if (number >= 3) three.open();
      await three.opened;
      return undefined;
    },
  };
}
const bought = (scene: Scene) => scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');

/** A run whose database stops while three calls are in flight, so that their answers are in the spool. */
async function spooled(scene: Scene, spool: Spool) {
  const { warehouse } = failingFrom(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 }, gone);
  await scene.sync(CONFIG, { warehouse, ...processWith(spool) });
  await expireLeases(scene.warehouse);
  const files = await spoolFiles(spool.folder);
  expect(files.length).toBeGreaterThanOrEqual(3);
  return { files, first: bought(scene) };
}

anyWarehouse('a spool of the ledger', (open) => {
  const spoolsOf = (scene: Scene) =>
    select<{ spools: { id: string; host: string; folder: string }[] }>(
      scene.warehouse,
      'select spools from sluice_ops.runs order by id',
    );

  it('is looked into without reading the requests of open runs, which may be a million', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { files } = await spooled(scene, spool);
    const statements: string[] = [];
    const warehouse = withStatementSpy(scene.warehouse, {
      statement: (text, run) => {
        statements.push(text);
        return run();
      },
    });
    const spools = await findableSpools({
      sleep: scene.clock.sleep,
      random: () => 0.5,
      newId: randomUUID,
      now: scene.clock.now,
      onNotice: () => undefined,
      ops: operationsOf(warehouse),
      syncs: ['groups'],
      spool: await spoolIn(),
    });
    const found = await spools.waiting();
    expect(found.flatMap(({ answers }) => answers)).toHaveLength(files.length);
    expect(statements).not.toEqual([]);
    expect(statements.filter((text) => text.includes('"requests"'))).toEqual([]);
  });

  it('is named in the run with its host, absolute folder and id', async () => {
    const scene = await sceneIn(await open());
    const spool = await spoolIn();
    expect(only(await scene.sync(CONFIG, processWith(spool)))).toMatchObject({ exitCode: 0 });
    const [run] = await spoolsOf(scene);
    expect(run?.spools).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        host: expect.any(String) as string,
        folder: spool.folder,
      },
    ]);
  });

  it('that was moved away leaves its requests open with exit 5, and the run buys only the others', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { files, first } = await spooled(scene, spool);
    await rename(spool.folder, `${spool.folder}.away`);
    const other = await spoolIn();

    for (let round = 0; round < 2; round += 1) {
      const run = only(await scene.sync(CONFIG, processWith(other)));
      expect(run).toMatchObject({ exitCode: 5, state: 'interrupted', inDoubt: files.length });
      expect(run.error).toContain(`may be in a spool that can’t be found from here: ${spool.folder} on `);
      expect(run.next).toContain('sluice sync groups --abandon-spool');
      await expireLeases(scene.warehouse);
    }
    expect(sentAgain([...first, ...bought(scene)]).size).toBe(0);
    expect(await states(scene.warehouse)).toMatchObject({ sent: files.length });
    expect((await readStatus(scene.warehouse)).syncs).toMatchObject([{ open: files.length, exitCode: 5 }]);

    // Back where it was, though this process keeps its own answers elsewhere.
    await rename(`${spool.folder}.away`, spool.folder);
    expect(only(await scene.sync(CONFIG, processWith(other)))).toMatchObject({ exitCode: 0, answers: 5, inDoubt: 0 });
    expect(bought(scene)).toEqual([]);
    expect(await spoolFiles(spool.folder)).toEqual([]);
  });

  it('that was moved and renamed is found by its marker', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { first } = await spooled(scene, spool);
    const folder = await folderOf();
    await rename(spool.folder, join(folder, 'spool'));
    expect(only(await scene.sync(CONFIG, processWith(await spoolIn(folder))))).toMatchObject({
      exitCode: 0,
      answers: 5,
    });
    expect(sentAgain([...first, ...bought(scene)]).size).toBe(0);
  });

  it('is searched by an erasure, and named in its result while it cannot be found', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    await spooled(scene, spool);
    const other = await spoolIn();
    const former = await spoolIn();
    const forgetGroup = (group: string) =>
      forget(
        scene.warehouse,
        { table: 'pronet_groups', key: ['group', group], mayReturn: false, dryRun: false },
        {
          now: scene.clock.now,
          sleep: scene.clock.sleep,
          newId: randomUUID,
          onProgress: () => undefined,
          spool: other,
          formerSpools: [former.folder],
        },
        new AbortController().signal,
      );
    const holding = async (group: string) => {
      const files = await Promise.all([spool, former].map(({ folder }) => answersIn(folder)));
      return files.flat().filter((text) => text.includes(`"value":"${group}"`)).length;
    };
    const away = `${spool.folder}.away`;
    expect(await holding('1001')).toBe(1);
    await rename(spool.folder, away);
    for (let round = 0; round < 2; round += 1) {
      const { missingSpools } = await forgetGroup('1001');
      expect(missingSpools).toMatchObject([{ folder: spool.folder, host: hostname() }]);
    }

    await rename(away, spool.folder);
    expect(await forgetGroup('1001')).toMatchObject({ spooled: 1, missingSpools: [] });
    expect(await holding('1001')).toBe(0);

    // A folder of an earlier version, which had no marker.
    await rename(spool.folder, former.folder);
    await rm(join(former.folder, 'spool.json'));
    expect(await holding('1002')).toBe(1);
    expect(await forgetGroup('1002')).toMatchObject({ spooled: 1 });
    expect(await holding('1002')).toBe(0);
  });

  it('that was replaced at the same path is missing, and --abandon-spool sends its requests again', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { files, first } = await spooled(scene, spool);
    await rm(spool.folder, { recursive: true });
    const again = openSpool({ folder: spool.folder });
    expect(only(await scene.sync(CONFIG, processWith(again)))).toMatchObject({ exitCode: 5, inDoubt: files.length });
    await expireLeases(scene.warehouse);
    expect(sentAgain([...first, ...bought(scene)]).size).toBe(0);

    const run = only(await scene.sync(CONFIG, { ...processWith(again), abandonSpool: true }));
    expect(run).toMatchObject({ exitCode: 0, answers: 5, inDoubt: 0 });
    expect(bought(scene)).toHaveLength(files.length);
    expect(scene.notices.map(({ message }) => message)).toContainEqual(
      expect.stringContaining(`is abandoned: the answers to ${files.length} requests count as lost`),
    );
  });

  it('keeps a run from being given up: a changed definition waits for the spool too', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { files, first } = await spooled(scene, spool);
    await rename(spool.folder, `${spool.folder}.away`);
    const changed = CONFIG.replace('"1005"', '"1005", "1006"');
    const other = await spoolIn();
    expect(only(await scene.sync(changed, processWith(other)))).toMatchObject({
      exitCode: 5,
      error: expect.stringContaining(`may be in a spool that can’t be found from here: ${spool.folder}`) as string,
    });
    await expireLeases(scene.warehouse);
    expect(bought(scene)).toEqual([]);
    await rename(`${spool.folder}.away`, spool.folder);
    expect(only(await scene.sync(changed, processWith(other)))).toMatchObject({ exitCode: 0, fresh: files.length });
    expect(first.length + bought(scene).length).toBe(6);
  });

  it('keeps its requests open too when the run is shared with workers afterwards', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    await shared(scene, CONFIG, { chunkSize: 4 });
    await expireLeases(scene.warehouse);
    const { files, first } = await spooled(scene, spool);
    await rename(spool.folder, `${spool.folder}.away`);

    const { orders, work } = await shared(scene, CONFIG, { chunkSize: 4 });
    const ends = [];
    for (const order of orders) ends.push(await work(order));
    expect(ends.at(-1)).toMatchObject({ as: 'concluded', exitCode: 5 });

    expect(sentAgain([...first, ...bought(scene)]).size).toBe(0);
    expect(await states(scene.warehouse)).toMatchObject({ sent: files.length });
  });

  it('of a process that was killed and whose folder is there holds nothing back', async () => {
    const scene = await sceneIn(await open());
    const spool = await spoolIn();
    const { warehouse } = dyingAt(scene.warehouse, { when: 'before', statement: STEP.store, nth: 2 });
    await scene
      .sync(CONFIG, {
        warehouse,
        effects: { newId: randomUUID, spool: { ...spool, keep: () => Promise.reject(new Error('killed')) } },
      })
      .catch(() => undefined);
    await expireLeases(scene.warehouse);
    expect((await states(scene.warehouse))['sent']).toBeGreaterThan(0);
    expect(only(await scene.sync(CONFIG, processWith(await spoolIn())))).toMatchObject({ exitCode: 0, answers: 5 });
  });

  it('in the folder of an earlier version is read too, without a marker', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { first } = await spooled(scene, spool);
    await rm(join(spool.folder, 'spool.json'));
    await select(scene.warehouse, 'update sluice_ops.runs set spools = null');
    const run = only(
      await scene.sync(CONFIG, {
        effects: { newId: randomUUID, spool: await spoolIn(), formerSpools: [spool.folder] },
      }),
    );
    expect(run).toMatchObject({ exitCode: 0, answers: 5 });
    expect(sentAgain([...first, ...bought(scene)]).size).toBe(0);
  });

  it('whose marker is unreadable is missing', async () => {
    const scene = await sceneIn(await open(), threeAtOnce());
    const spool = await spoolIn();
    const { files } = await spooled(scene, spool);
    await writeFile(join(spool.folder, 'spool.json'), '{"id":');
    expect(only(await scene.sync(CONFIG, processWith(await spoolIn())))).toMatchObject({
      exitCode: 5,
      inDoubt: files.length,
    });
  });
});
