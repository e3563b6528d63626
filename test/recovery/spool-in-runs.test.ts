/** Answers that the database can't take wait on the disk, and the next start takes them in instead of buying them again. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSpool, type Spool, type SpoolOptions } from '../../src/recovery/spool/files.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { anyWarehouse, eachWarehouse } from '../support/warehouse.ts';
import { expireLeases, STEP } from '../flow/crash.ts';
import { failingFrom } from '../flow/failing.ts';
import { door } from '../control/limiter-calls.ts';
import { rowsOf, select } from '../flow/rows.ts';
import { sentAgain, only, type Scene, sceneIn, service } from '../flow/scene.ts';

const CONFIG = `${service({ in_flight: 3 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003", "1004", "1005", "1006"] } }
`;
const TWO = `${CONFIG}  user: { endpoint: microblog.user, request: { user: acme_labs } }\n`;

async function spoolOf(options: Omit<SpoolOptions, 'folder'> = {}): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return openSpool({ folder: join(folder, 'spool'), ...options });
}

const gone = (): Error => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

/** Answers only once three calls are in flight, and then with these answers. */
function holding(then: SandboxOptions['respond'] = () => undefined): { readonly respond: typeof then } {
  const three = door();
  return {
    respond: async (request) => {
      if (request.endpoint === 'token.requests') return undefined;
      if (request.number >= 3) three.open();
      await three.opened;
      return then(request);
    },
  };
}

/** The requests since the last call, without those for the request log. */
const boughtIn = (scene: Scene) => scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');

/** A run whose database is gone from the first answer on, and the files that it leaves. */
async function interrupted(scene: Scene, spool: Spool, config = CONFIG, errorOf = gone) {
  const { warehouse } = failingFrom(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 }, errorOf);
  const end = await scene
    .sync(config, { warehouse, effects: { spool } })
    .then((summary) => ({ summary }))
    .catch((error: unknown) => ({ error }));
  await expireLeases(scene.warehouse);
  return { ...end, files: await spoolFiles(spool.folder) };
}

eachWarehouse('a database that fails with calls in flight', (open) => {
  it('ends the run with 5 and nothing lost: the next one buys nothing of it again', async () => {
    const undisturbed = await sceneIn(await open());
    await undisturbed.sync(CONFIG);
    const scene = await sceneIn(await open(), holding());
    const spool = await spoolOf();

    const { files, ...end } = await interrupted(scene, spool, TWO);

    expect(end).toMatchObject({
      summary: {
        exitCode: 5,
        syncs: [
          {
            exitCode: 5,
            error: expect.stringMatching(
              /^answers could not be stored \(connect ECONNREFUSED 127.0.0.1:5432\): \d kept in \S+spool$/,
            ),
            next: 'Run the sync again when the database is available: it loads the kept answers first and does not buy them again.',
          },
          { exitCode: 5, error: expect.stringMatching(/^not started: answers could not be stored/), sent: 0 },
        ],
      },
    });
    const first = boughtIn(scene);
    expect(first.length).toBeGreaterThanOrEqual(3);
    expect(files).toHaveLength(first.length);
    expect(scene.notices.filter(({ message }) => message.includes('it is kept in'))).toHaveLength(files.length);

    const run = only(await scene.sync(CONFIG, { effects: { spool } }));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', continued: true, inDoubt: 0, answers: 6 });
    expect(sentAgain([...first, ...boughtIn(scene)]).size).toBe(0);
    expect(scene.notices).toContainEqual({
      level: 'info',
      sync: 'groups',
      message: `${files.length} answers that waited in ${spool.folder} were stored; they are not bought again`,
    });
    expect(await spoolFiles(spool.folder)).toEqual([]);
    expect(await rowsOf(scene.warehouse)).toEqual(await rowsOf(undisturbed.warehouse));
    expect(run.received).toBe(run.loaded + run.unchanged + run.superseded + run.quarantined);
  });

  it('leaves answers that serve any sync: none is bought again, whichever sync runs next', async () => {
    const scene = await sceneIn(await open(), holding());
    const spool = await spoolOf();
    const { files } = await interrupted(scene, spool);
    const first = boughtIn(scene);
    const other = '  other: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] }, max_age: 1d }\n';

    const run = only(await scene.sync(`${CONFIG}${other}`, { names: ['other'], effects: { spool } }));

    expect(run).toMatchObject({ exitCode: 0, fresh: 3, sent: 0 });
    expect(await spoolFiles(spool.folder)).toHaveLength(0);
    const rest = only(await scene.sync(CONFIG, { effects: { spool } }));
    expect(rest).toMatchObject({ exitCode: 0, continued: true, answers: 6, loaded: 3, unchanged: 0 });
    expect(sentAgain([...first, ...boughtIn(scene)]).size).toBe(0);
    expect(files.length).toBeGreaterThanOrEqual(3);
  });

  it('loses nothing to a process that began before: it finds the answers when the turn of their sync comes', async () => {
    const [arrived, held] = [door(), door()];
    const scene = await sceneIn(await open(), {
      respond: async ({ endpoint }) => {
        if (endpoint !== 'microblog.user') return undefined;
        arrived.open();
        await held.opened;
        return undefined;
      },
    });
    const spool = await spoolOf();
    const config = `${service({ in_flight: 8 })}
syncs:
  user: { endpoint: microblog.user, request: { user: acme_labs } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
`;
    const both = scene.sync(config, { effects: { spool } });
    await arrived.opened;
    const { warehouse } = failingFrom(scene.warehouse, { when: 'before', statement: STEP.store, nth: 1 }, gone);
    await scene.sync(config, { names: ['groups'], warehouse, effects: { spool, newId: randomUUID } });
    const first = boughtIn(scene);
    expect((await spoolFiles(spool.folder)).length).toBeGreaterThan(0);
    await select(
      scene.warehouse,
      `update sluice_ops.leases set expires_at = clock_timestamp() - interval '1 s' where name = 'sync:groups' returning name`,
    );

    held.open();

    expect(await both).toMatchObject({ exitCode: 0, syncs: [{ sync: 'user' }, { sync: 'groups', inDoubt: 0 }] });
    expect(sentAgain([...first, ...boughtIn(scene)]).size).toBe(0);
    expect(await spoolFiles(spool.folder)).toEqual([]);
  });

  it('and answers "no such entity" loses that neither', async () => {
    const scene = await sceneIn(
      await open(),
      holding(() => ({ status: 412, body: { detail: 'nobody' } })),
    );
    const spool = await spoolOf();
    const { files } = await interrupted(scene, spool);
    expect(files.length).toBeGreaterThan(0);
    const first = boughtIn(scene);
    expect(only(await scene.sync(CONFIG, { effects: { spool } }))).toMatchObject({ exitCode: 0, missing: 6 });
    expect(sentAgain([...first, ...boughtIn(scene)]).size).toBe(0);
  });

  it('and a bug of the program in the middle of it is reported as one, with the answer kept', async () => {
    const scene = await sceneIn(await open(), holding());
    const spool = await spoolOf();
    const end = await interrupted(scene, spool, CONFIG, () => new TypeError('x of undefined'));
    expect(end).toMatchObject({ error: { message: 'x of undefined' } });
    expect(end.files).toHaveLength(boughtIn(scene).length);
    expect(only(await scene.sync(CONFIG, { effects: { spool } }))).toMatchObject({ exitCode: 0, answers: 6 });
    expect(boughtIn(scene)).toHaveLength(6 - end.files.length);
  });

  it('and loses its last transactions: the answers are kept, and the run ends with 5', async () => {
    const scene: Scene = await sceneIn(
      await open(),
      holding(async () => {
        await select(scene.warehouse, 'delete from sluice_ops.requests where answer_id is null returning id');
        return undefined;
      }),
    );
    const spool = await spoolOf();
    expect(only(await scene.sync(CONFIG, { effects: { spool } }))).toMatchObject({
      exitCode: 5,
      error: expect.stringMatching(
        /^answers could not be stored \(the database no longer has request \d+, .*\): \d kept in/,
      ),
      next: 'Run the sync again: it requests again what the database lost.',
    });
    expect(await spoolFiles(spool.folder)).toHaveLength(boughtIn(scene).length);
    expect(boughtIn(scene).length).toBeLessThanOrEqual(3);
  });

  it('and a spool that is full: the error says that the answer is lost, and nothing more is sent', async () => {
    const scene = await sceneIn(await open(), holding());
    const { files, ...end } = await interrupted(scene, await spoolOf({ capBytes: 10 }), TWO);
    expect(files).toEqual([]);
    expect(end).toMatchObject({
      summary: {
        exitCode: 5,
        syncs: [
          {
            exitCode: 5,
            error: expect.stringMatching(
              /could not be stored .*: \d lost, because the spool \S+ can’t take the answer: it holds 0 bytes, .* is the most$/,
            ),
            next: 'Make room for it, or name another folder in SLUICE_SPOOL.',
          },
          { exitCode: 5, sent: 0 },
        ],
      },
    });
    expect(boughtIn(scene).length).toBeLessThanOrEqual(4);
  });
});

anyWarehouse('what waits on the disk', (open) => {
  const waiting = async () => {
    const scene = await sceneIn(await open(), holding());
    const spool = await spoolOf();
    const { files } = await interrupted(scene, spool);
    const asked = boughtIn(scene).length;
    scene.notices.length = 0;
    return { scene, spool, files, asked };
  };
  const answersOf = (warehouse: Warehouse) =>
    select<{ n: number; unloaded: number }>(
      warehouse,
      "select count(*)::int as n, (count(*) - count(loaded_at))::int as unloaded from sluice_ops.answers where endpoint = 'pronet.group'",
    );

  it('and was taken in but not removed is not taken in twice', async () => {
    const { scene, spool, files } = await waiting();
    const dropping: Spool = { ...spool, drop: () => Promise.reject(new Error('no right')) };
    expect(only(await scene.sync(CONFIG, { effects: { spool: dropping } }))).toMatchObject({ exitCode: 0, answers: 6 });
    expect(await spoolFiles(spool.folder)).toHaveLength(files.length);
    expect(scene.notices).toContainEqual(
      expect.objectContaining({ message: `${files[0]} in ${spool.folder} was stored and can’t be removed: no right` }),
    );
    expect(await scene.sync(CONFIG, { effects: { spool } })).toMatchObject({ exitCode: 0 });
    expect(await spoolFiles(spool.folder)).toEqual([]);
    // The second sync requests everything again.
    expect(await answersOf(scene.warehouse)).toEqual([{ n: 12, unloaded: 0 }]);
  });

  /** The ledger as a backup from before these requests were sent has it. */
  const restore = (warehouse: Warehouse, change = '') =>
    select(
      warehouse,
      `update sluice_ops.requests set state = 'planned', attempts = 0, x_request_id = null, sent_at = null, points = null
        ${change} where answer_id is null and attempts > 0 returning id`,
    );

  it('and was sent after the backup that was restored is not bought again', async () => {
    const { scene, spool, asked } = await waiting();
    expect(await restore(scene.warehouse)).toHaveLength(asked);

    expect(only(await scene.sync(CONFIG, { effects: { spool } }))).toMatchObject({ exitCode: 0, answers: 6, sent: 6 });

    expect(boughtIn(scene)).toHaveLength(6 - asked);
    expect(await spoolFiles(spool.folder)).toEqual([]);
    const costs = 'select count(*)::int as n from sluice_ops.requests where points = 1 and sent_at is not null';
    expect(await select(scene.warehouse, costs)).toEqual([{ n: 6 }]);
  });

  it.each([
    ['another request', "request_key = request_key || 'x'"],
    ['a request that was planned later', "planned_at = planned_at + interval '1 h'"],
  ])('is left if a restored ledger has %s with its id', async (_, change) => {
    const { scene, spool, files } = await waiting();
    await restore(scene.warehouse, `, ${change}`);
    expect(only(await scene.sync(CONFIG, { effects: { spool } }))).toMatchObject({ exitCode: 0 });
    expect(await spoolFiles(spool.folder)).toEqual(files);
  });

  it('for another warehouse is left and reported', async () => {
    const { spool, files } = await waiting();
    const other = await sceneIn(await open());
    const run = only(await other.sync(CONFIG, { effects: { spool } }));
    expect(run).toMatchObject({ exitCode: 0, sent: 6 });
    expect(await spoolFiles(spool.folder)).toEqual(files);
    expect(other.notices.map(({ message }) => message)).toEqual(
      files.map(
        (file) =>
          `${file} in ${spool.folder} belongs to another warehouse, or to a run that a restored backup does not have; it stays there`,
      ),
    );
  });

  it('for a sync that is not in the config is left and reported', async () => {
    const { scene, spool, files } = await waiting();
    const other = `${service()}\nsyncs: { user: { endpoint: microblog.user, request: { user: acme_labs } } }\n`;
    expect(await scene.sync(other, { effects: { spool } })).toMatchObject({ exitCode: 0 });
    expect(scene.notices.map(({ message }) => message)).toEqual([
      `${files.length} answers in ${spool.folder} belong to syncs that the config does not name; they stay there`,
    ]);
    expect(await spoolFiles(spool.folder)).toEqual(files);
  });

  it('and is damaged is renamed and reported, and its request is sent again as one in doubt', async () => {
    const { scene, spool, files, asked } = await waiting();
    const [cut = '', spoilt = ''] = files;
    await writeFile(join(spool.folder, cut), '{"for');
    const text = await readFile(join(spool.folder, spoilt));
    await writeFile(join(spool.folder, spoilt), text.subarray(0, text.length - 2));

    const run = only(await scene.sync(CONFIG, { effects: { spool } }));

    expect(run).toMatchObject({ exitCode: 0, answers: 6 });
    expect(await spoolFiles(spool.folder)).toEqual([`${cut}.damaged`, `${spoilt}.damaged`]);
    const damaged = scene.notices.filter(({ message }) => message.includes('is damaged; it is set aside'));
    expect(damaged).toHaveLength(2);
    expect(asked + boughtIn(scene).length).toBe(6 + 2);
  });

  it('and belongs to a run that is given up is kept all the same', async () => {
    const { scene, spool, asked } = await waiting();
    const changed = CONFIG.replace('"1006"] }', '"1006", "1007"] }, max_age: 30d');
    const run = only(await scene.sync(changed, { effects: { spool } }));
    expect(run).toMatchObject({ exitCode: 0, continued: false, planned: 7, fresh: asked });
    expect(asked + boughtIn(scene).length).toBe(7);
    expect(await answersOf(scene.warehouse)).toEqual([{ n: 7, unloaded: 0 }]);
  });

  /** A scene whose groups all have the name of the present version. */
  const versioned = async () => {
    const version = { name: 'old' };
    const group = (id: unknown) => ({
      urn: { type: 'group', value: String(id) },
      name: version.name,
      url: 'u',
      member_count: 1,
    });
    const respond = holding(({ body }) => ({ body: [group((body as { group: string }).group)] }));
    return { scene: await sceneIn(await open(), respond), version };
  };

  it('and was requested again meanwhile undoes nothing that the newer answer reported', async () => {
    const { scene, version } = await versioned();
    const spool = await spoolOf();
    const config = CONFIG.replace('"1006"] }', '"1006"] }, max_age: 30d');
    const { files } = await interrupted(scene, spool, config);
    version.name = 'new';
    scene.clock.advance(60_000);
    // As on another machine, which does not have the spool.
    await rename(spool.folder, `${spool.folder}.away`);
    expect(only(await scene.sync(config, { abandonSpool: true, effects: { spool: await spoolOf() } }))).toMatchObject({
      exitCode: 0,
    });
    await rename(`${spool.folder}.away`, spool.folder);
    const before = await rowsOf(scene.warehouse, { machinery: true });
    const ledger = 'select id, state, answer_id from sluice_ops.requests where run_id = 1 order by id';
    const requests = await select(scene.warehouse, ledger);
    const [newest] = await select<{ id: string }>(scene.warehouse, 'select max(id) as id from sluice_ops.answers');

    expect(only(await scene.sync(config, { effects: { spool } }))).toMatchObject({ exitCode: 0, fresh: 6, sent: 0 });

    expect(await spoolFiles(spool.folder)).toEqual([]);
    expect(await rowsOf(scene.warehouse, { machinery: true })).toEqual(before);
    expect(await select(scene.warehouse, ledger)).toEqual(requests);
    const late = `select received::int, superseded::int, loaded::int, loaded_at is not null as done
      from sluice_ops.answers where id > ${newest?.id ?? '0'}`;
    expect(await select(scene.warehouse, late)).toEqual(
      files.map(() => ({ received: 1, superseded: 1, loaded: 0, done: true })),
    );
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(scene.warehouse, { machinery: true })).toEqual(before);
  });

  it('and was bought by another sync meanwhile undoes nothing that the newer answer reported', async () => {
    const { scene, version } = await versioned();
    const spool = await spoolOf();
    const { files } = await interrupted(scene, spool);
    version.name = 'new';
    scene.clock.advance(60_000);
    const other = CONFIG.replace('  groups:', '  others:');
    expect(only(await scene.sync(other, { effects: { spool: await spoolOf() } }))).toMatchObject({ sent: 6 });
    const before = await rowsOf(scene.warehouse);
    boughtIn(scene);

    const run = only(await scene.sync(CONFIG, { effects: { spool } }));

    expect(run).toMatchObject({ exitCode: 0, state: 'complete', continued: true, fresh: files.length, left: 0 });
    expect(boughtIn(scene)).toHaveLength(6 - files.length);
    expect(await spoolFiles(spool.folder)).toEqual([]);
    expect(await rowsOf(scene.warehouse)).toEqual(before);
    const late = `select received::int, superseded::int, loaded::int, loaded_at is not null as done
      from sluice_ops.answers where sync = 'groups' order by id limit ${files.length}`;
    expect(await select(scene.warehouse, late)).toEqual(
      files.map(() => ({ received: 1, superseded: 1, loaded: 0, done: true })),
    );
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(scene.warehouse)).toEqual(before);
  });

  it('cannot be read: that is reported, and the sync continues', async () => {
    const scene = await sceneIn(await open());
    const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'spool'), 'a file in its place');
    const spool = openSpool({ folder: join(folder, 'spool') });
    expect(await scene.sync(CONFIG, { effects: { spool } })).toMatchObject({ exitCode: 0 });
    expect(scene.notices).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/can’t be used: EEXIST.* name another folder in SLUICE_SPOOL$/) },
      { level: 'warn', message: expect.stringMatching(/can’t be read: ENOTDIR/) },
    ]);
  });
});
