/**
 * Commits whose answer is lost: the server did the work, the connection died before it could reply. The outcome is
 * read back, so that nothing is stored, counted or sent twice.
 */
import type { Clock } from './clock.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSpool } from '../../src/recovery/spool/files.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { expireLeases } from './crash.ts';
import { type Loss, wireTo } from './postgres-wire.ts';
import { rowsOf, select, states } from './rows.ts';
import { only, sceneIn, service } from './scene.ts';

const CONFIG = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
`;

const SEND = /update "sluice_ops"\."requests" set .*"attempts" = attempts \+ 1/;
const STORE = /with "received" as .*insert into "sluice_ops"\."answers"/s;
const COMMIT = /commit/;

const LOSSES: Readonly<Record<string, Loss>> = {
  'of a plan': { after: /insert into "sluice_ops"\."runs"/, statement: COMMIT },
  'of the mark that a request is sent': { statement: SEND },
  'of an answer': { statement: STORE },
  'of a load': { after: /update "sluice_ops"\."answers" set .*"loaded_at"/, statement: COMMIT },
  'of the end of a run': { statement: /update "sluice_ops"\."runs" set .*"planned"/ },
};

describe('the lost commit', () => {
  const open = postgresWarehouses();
  let undisturbed: Promise<unknown> | undefined;
  const expected = async () => {
    const scene = await sceneIn(await open());
    await scene.sync(CONFIG);
    return rowsOf(scene.warehouse);
  };

  it.each(Object.entries(LOSSES))('%s is read back, and the run goes on as if nothing was', async (_, loss) => {
    const scene = await sceneIn(await open());
    const wire = await wireTo(scene.warehouse);
    const lost = wire.lose(loss, loss.statement === COMMIT ? 1 : 2);

    const run = only(await scene.sync(CONFIG, { warehouse: wire.warehouse }));

    expect(lost()).toBeGreaterThan(0);
    expect(run).toMatchObject({ exitCode: 0, state: 'complete', sent: 3, answers: 3, planned: 3, inDoubt: 0 });
    expect(run.received).toBe(run.loaded + run.unchanged + run.superseded + run.quarantined);
    expect(scene.sandbox.requests()).toHaveLength(3);
    expect(scene.notices).toEqual([]);
    const sums = await select(
      scene.warehouse,
      `select (select count(*)::int from sluice_ops.runs) as runs, (select count(*)::int from sluice_ops.requests) as requests,
        (select sum(attempts)::int from sluice_ops.requests) as attempts, (select count(*)::int from sluice_ops.answers) as answers,
        (select sum(points)::int from sluice_ops.requests) as points, (select sum(loaded)::int from sluice_ops.answers) as loaded`,
    );
    expect(sums).toEqual([{ runs: 1, requests: 3, attempts: 3, answers: 3, points: 3, loaded: 3 }]);
    expect(await rowsOf(scene.warehouse)).toEqual(await (undisturbed ??= expected()));
  });

  it('of a settled refusal takes its points back once', async () => {
    const direct = await open();
    const wire = await wireTo(direct);
    let lost = (): number => 0;
    let calls = 0;
    const scene = await sceneIn(direct, {
      respond: () => {
        calls += 1;
        // One that may be billed, then one that surely is not: two refunds would take back the first's points too.
        if (calls === 1) return { status: 500, body: { detail: 'oh' } };
        if (calls > 2) return undefined;
        lost = wire.lose({ statement: /update "sluice_ops"\."requests" set "state" = .*"failure_class"/ });
        return { status: 503, body: { detail: 'soon' } };
      },
    });
    expect(only(await scene.sync(CONFIG, { warehouse: wire.warehouse }))).toMatchObject({ exitCode: 0, sent: 5 });
    expect(lost()).toBe(1);
    const points = 'select sum(points)::int as points from sluice_ops.requests';
    expect(await select(scene.warehouse, points)).toEqual([{ points: 4 }]);
  });

  it('of the mark as sent, and a database that stays unavailable: nothing was sent, and the next run sends it once', async () => {
    const scene = await sceneIn(await open());
    const wire = await wireTo(scene.warehouse);
    const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const spool = openSpool({ folder });
    const lost = wire.lose({ statement: SEND });
    const waits: number[] = [];
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      waits.push(ms);
      if (lost() > 0) wire.shut(true);
      return scene.clock.sleep(ms, signal, beside);
    };
    const run = only(await scene.sync(CONFIG, { warehouse: wire.warehouse, sleep, effects: { spool } }));
    expect(run).toMatchObject({ exitCode: 5, error: expect.stringMatching(/^the database could not be used/) });
    expect(waits.length).toBeGreaterThanOrEqual(7);
    expect(scene.arrived()).toEqual([]);
    expect(await states(scene.warehouse)).toEqual({ planned: 2, sent: 1 });
    await expireLeases(scene.warehouse);
    expect(only(await scene.sync(CONFIG, { effects: { spool } }))).toMatchObject({ exitCode: 0, answers: 3 });
    expect(scene.arrived().filter(({ endpoint }) => endpoint === 'pronet.group')).toHaveLength(3);
    expect(await spoolFiles(folder)).toEqual([]);
  });
});

describe('a connection that is cut', () => {
  const open = postgresWarehouses();

  it('while a call is in flight loses nothing and leads to no second call', async () => {
    const scene = await sceneIn(await open());
    const wire = await wireTo(scene.warehouse);
    const cutting = await sceneIn(scene.warehouse, {
      respond: () => {
        wire.cut();
        return undefined;
      },
    });
    const ends: (number | undefined)[] = [];
    for (let round = 0; round < 5 && ends.at(-1) !== 0; round += 1) {
      ends.push(only(await cutting.sync(CONFIG, { warehouse: wire.warehouse })).exitCode);
      await expireLeases(scene.warehouse);
    }
    expect(ends.at(-1)).toBe(0);
    expect(await states(scene.warehouse)).toEqual({ loaded: 3 });
    expect(cutting.sandbox.requests()).toHaveLength(3);
  });

  it('for good, with calls in flight: their answers wait on the disk, and are not bought again', async () => {
    const scene = await sceneIn(await open());
    const wire = await wireTo(scene.warehouse);
    const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const spool = openSpool({ folder });
    let arrived = 0;
    const shutting = await sceneIn(scene.warehouse, {
      respond: () => {
        arrived += 1;
        if (arrived === 2) wire.shut(true);
        return undefined;
      },
    });
    const config = CONFIG.replace('in_flight: 1', 'in_flight: 3');
    const run = only(await shutting.sync(config, { warehouse: wire.warehouse, effects: { spool } }));
    expect(run).toMatchObject({ exitCode: 5, state: 'failed', error: expect.stringMatching(/kept in /) });
    const files = await spoolFiles(folder);
    expect(files.length).toBeGreaterThan(0);
    const groups = () => shutting.arrived().filter(({ endpoint }) => endpoint === 'pronet.group').length;
    const requested = groups();

    await expireLeases(scene.warehouse);
    expect(only(await shutting.sync(config, { effects: { spool } }))).toMatchObject({ exitCode: 0, answers: 3 });

    expect(requested + groups()).toBe(3);
    expect(await spoolFiles(folder)).toEqual([]);
  });
});
