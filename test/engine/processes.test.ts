/** Schedulers and workers as processes, some of which are killed: each due sync runs once, and its rows are those of an undisturbed run. */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import type { World } from '../../src/sandbox/world/world.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { warehouseTemplates, withWarehouse } from '../reliability/warehouse-templates.ts';
import type { Oracle } from '../reliability/oracle.ts';
import type { Process } from '../reliability/processes.ts';
import { openStage, type Stage, undisturbed } from '../reliability/stage.ts';
import { type Form, IN_FLIGHT } from '../reliability/workload.ts';
import { hasBinaries, startEmbedded } from '../support/embedded-postgres.ts';
import { IS_LONG } from '../support/long.ts';
import { LOCALE } from '../support/postgres.ts';
import { migrated } from '../support/templates.ts';
import { makeDue, TWICE_A_DAY } from './due.ts';

const MICROBLOGGERS = 48;
/** An eighth of them: more chunks than the roles in the process of the test take at once. */
const CHUNK = ['--chunk', '6'] as const;
const DAILY = `schedule: { cron: "${TWICE_A_DAY}", timezone: America/New_York }`;
const config = (world: World): string => `service:
  url: \${SLUICE_SERVICE_URL}
  token: \${SLUICE_SERVICE_TOKEN}
  in_flight: ${IN_FLIGHT}
  requests_per_second: 1000000
warehouse: { url: "\${DATABASE_URL}" }
syncs:
  filings:
    endpoint: sec.search.companies
    ${DAILY}
    request: { count: 20 }
    window: { from: 2026-02-02, to: 2026-02-06 }
  people:
    endpoint: pronet.search.users
    ${DAILY}
    request: { title: data engineer, count: 50 }
    for_each: { location: [Berlin, Paris] }
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 100 }
    for_each:
      urn:
        query: >-
          select urn_type as type, urn_value as value from sluice.pronet_users
          where _detail = 'full' order by urn_value limit 10
  microbloggers:
    endpoint: microblog.user
    ${DAILY}
    for_each: { user: [${Array.from({ length: MICROBLOGGERS }, (_, at) => JSON.stringify(world.microblog.item(at, String)['alias'])).join(', ')}] }
`;
const FORM: Form = { configOf: config, survivors: 'here' };
const SYNCS = ['filings', 'microbloggers', 'people', 'schools'];
const PATIENT = { timeout: 240_000 };
const ROLES = ['schedule', 'worker'] as const;
/** On a server, the test of a database that is stopped ends processes too. */
const STOPPED: readonly Warehouse['kind'][] = hasBinaries() && !IS_LONG ? ['embedded'] : ['embedded', 'postgres'];
/** How long a call takes, so that there is something to disturb. */
const CALL_MS = 80;

/** The same until a process that will be killed has a chunk: the roles in the process of the test start sooner. */
const FIRST_CALL_MS = 1_000;

/** So soon the work of a worker that died is at another: a promise of the schedule, not a measure of speed. */
const TAKEN_OVER_MS = 45_000;

interface Held {
  readonly name: string;
  readonly holder: string;
}

const isHeldBy = ({ holder }: Held, { pid }: Process): boolean => holder.split('/')[1] === String(pid);

const templates = warehouseTemplates(inject('postgresUrl'), migrated);
afterAll(() => templates.end());
let expected: Promise<Oracle> | undefined;
/** The contents of the tables after an undisturbed run. */
const oracleOnce = (): Promise<Oracle> =>
  (expected ??= undisturbed(templates, { ...FORM, kind: 'postgres' }).then(({ oracle }) => oracle));

/** Less than the time of a test, so that it can say what it waited for, and end its processes. */
const LONGEST_WAIT_MS = 150_000;

/** Waits until what is looked for is there; throws with what it waited for. */
async function until<T>(look: () => Promise<T | undefined>, what = () => 'the state'): Promise<T> {
  for (const end = performance.now() + LONGEST_WAIT_MS; performance.now() < end; await wait(200)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`waited too long for ${what()}`);
}

const ended = async (warehouse: Warehouse): Promise<readonly string[]> => {
  const { rows } = await sql<{ sync: string }>`select sync from sluice_ops.runs
    where ended_at is not null and strpos(sync, ':') = 0 order by sync`.execute(warehouse.db);
  return rows.map(({ sync }) => sync);
};

const allEnded = (stage: Stage): Promise<true> =>
  withWarehouse(stage.warehouse.url, (warehouse) =>
    until(
      async () => ((await ended(warehouse)).length >= SYNCS.length ? (true as const) : undefined),
      () => 'the end of all syncs',
    ),
  );

/** What stopped runs and chunks, in their words. */
const stopsOf = async ({ db }: Warehouse): Promise<readonly unknown[]> => {
  const { rows } = await sql`select sync, number, c.exit_code, c.error, c.ended_at from sluice_ops.chunks c
      join sluice_ops.runs r on r.id = run_id where c.exit_code is not null
    union all select sync, null, exit_code, error, ended_at from sluice_ops.runs where exit_code <> 0`.execute(db);
  return rows;
};

const prime = async ({ configFile, surroundings, warehouse, sandbox }: Stage): Promise<void> => {
  const env = {
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: 'token',
    DATABASE_URL: surroundings.warehouseUrl,
  };
  const read = await loadConfig(configFile, env);
  await withWarehouse(warehouse.url, (warehouse) => makeDue(warehouse, read));
};

async function stopAll(processes: readonly Process[]): Promise<void> {
  for (const { stop } of processes) stop();
  for (const it of processes) {
    const { code, wrote } = await it.ended;
    expect({ code, wrote: code === 143 ? '' : wrote }).toEqual({ code: 143, wrote: '' });
  }
}

/** A process that was stopped leaves planned requests, and none whose answer is unknown or not loaded. */
async function expectNothingInDoubt({ warehouse: { url } }: Stage): Promise<void> {
  const states = await withWarehouse(url, async ({ db }) => {
    const { rows } = await sql<{ state: string }>`select distinct state from sluice_ops.requests`.execute(db);
    return rows.map(({ state }) => state);
  });
  expect(states).toContain('planned');
  expect(states.filter((state) => ['sent', 'in_doubt', 'stored'].includes(state))).toEqual([]);
}

describe('clocks and workers', () => {
  it('run each due sync once; of a worker that is killed another takes its chunk over', PATIENT, async () => {
    let callMs = FIRST_CALL_MS;
    const onArrival = (): Promise<void> => wait(callMs);
    const oracle = await oracleOnce();
    const stage = await openStage(templates, { ...FORM, kind: 'postgres', onArrival });
    try {
      await prime(stage);
      // One of each role may be killed; the other is in this process, where it costs less.
      const mortal = ROLES.map((role) => stage.startSluice(role, ...CHUNK));
      const all = [...mortal, ...ROLES.map((role) => stage.sluiceHere(role, ...CHUNK))];
      const [killed, chunk] = await withWarehouse(stage.warehouse.url, (warehouse) =>
        until(async () => {
          // A process that has a call of a chunk in flight.
          const { rows } = await sql<Held>`select l.name, l.holder from sluice_ops.leases l
            join sluice_ops.requests r on l.name like 'chunk:' || r.run_id || ':%:' || r.chunk and r.state = 'sent'`.execute(
            warehouse.db,
          );
          const found = rows.map((held) => [mortal.find((it) => isHeldBy(held, it)), held.name] as const);
          return found.find((one): one is [Process, string] => one[0] !== undefined);
        }),
      );
      callMs = CALL_MS;
      killed.kill();
      const killedAt = performance.now();
      await withWarehouse(stage.warehouse.url, (warehouse) =>
        until(async () => {
          const { rows } = await sql<Held>`select name, holder from sluice_ops.leases where name = ${chunk}`.execute(
            warehouse.db,
          );
          return rows.every((held) => !isHeldBy(held, killed)) ? true : undefined;
        }),
      );
      expect(performance.now() - killedAt).toBeLessThan(TAKEN_OVER_MS);
      await allEnded(stage);
      await stopAll(all.filter((it) => it !== killed));

      expect(await withWarehouse(stage.warehouse.url, ended)).toEqual(SYNCS);
      const { violations, differing, figures } = await stage.judge(IN_FLIGHT, oracle);
      expect({ violations, differing }).toEqual({ violations: [], differing: [] });
      expect(figures.sentAgainAfterStored).toBe(0);
      await withWarehouse(stage.warehouse.url, async ({ db }) => {
        const { rows } =
          await sql`select c.state, count(*)::int as n from sluice_ops.chunks c join sluice_ops.runs r on r.id = c.run_id
            where r.sync = 'microbloggers' group by 1 order by 1`.execute(db);
        expect(rows).toEqual([
          { state: 'concluded', n: 1 },
          { state: 'ended', n: 7 },
        ]);
        const left = await sql`select name from sluice_jobs.job where state in ('created', 'retry', 'active', 'failed')
          and name <> 'firing'`.execute(db);
        expect(left.rows).toEqual([]);
      });
    } finally {
      await stage.close();
    }
  });

  it.each(STOPPED)('leave nothing in doubt when they are stopped, and go on with it (%s)', PATIENT, async (kind) => {
    let arrived = 0;
    const enough = Promise.withResolvers<void>();
    const onArrival = async (): Promise<void> => {
      arrived += 1;
      if (arrived === 20) enough.resolve();
      await wait(CALL_MS);
    };
    const stage = await openStage(templates, { ...FORM, kind, onArrival });
    try {
      await prime(stage);
      const first = stage.startSluice('schedule', ...CHUNK);
      await Promise.race([enough.promise, first.ended]);
      await stopAll([first]);
      await expectNothingInDoubt(stage);

      const second = stage.sluiceHere('schedule', ...CHUNK);
      if (kind === 'postgres') await allEnded(stage);
      else await until(async () => (sandboxIsQuiet(stage) ? true : undefined));
      await stopAll([second]);
      expect(await withWarehouse(stage.warehouse.url, ended)).toEqual(SYNCS);
      const { violations } = await stage.judge(0);
      expect(violations).toEqual([]);
    } finally {
      await stage.close();
    }
  });
});

if (hasBinaries())
  it(
    'schedulers and workers recover from a database that is stopped and comes back, buy nothing twice, and go on after a stop',
    PATIENT,
    async () => {
      // What it acknowledged it still knows after a crash; a disk is not what is tried.
      const server = await startEmbedded(LOCALE, { fsync: 'off', full_page_writes: 'off', max_connections: '100' });
      const own = warehouseTemplates(server.url);
      let arrived = 0;
      const onArrival = (): Promise<void> => {
        arrived += 1;
        return wait(CALL_MS);
      };
      try {
        const stage = await openStage(own, { ...FORM, kind: 'postgres', onArrival });
        try {
          await prime(stage);
          const all = ROLES.map((role) => stage.startSluice(role, ...CHUNK));
          const more = async (requests: number): Promise<true | undefined> => {
            for (const { code } of await Promise.all(all.map(({ ended: it }) => Promise.race([it, NOT_YET]))))
              expect(code).toBeUndefined();
            return arrived >= requests ? true : undefined;
          };
          const progress = (): string => `more than ${arrived} requests`;
          await until(() => more(12), progress);
          await server.restart('fast', 500);
          await until(() => more(24), progress);
          await server.restart('immediate', 2_000);
          await until(() => more(36), progress);
          await stopAll(all);
          await expectNothingInDoubt(stage);
          const last = stage.sluiceHere('schedule', ...CHUNK);
          await allEnded(stage);
          await stopAll([last]);

          expect(await withWarehouse(stage.warehouse.url, ended)).toEqual(SYNCS);
          const { violations, differing, figures } = await stage.judge(0, await oracleOnce());
          const stops = await withWarehouse(stage.warehouse.url, stopsOf);
          expect({ stops, violations, differing }).toEqual({ stops: [], violations: [], differing: [] });
          expect(figures).toMatchObject({ sentAgainAfterStored: 0, inDoubt: 0, sentAgain: 0 });
        } finally {
          await stage.close();
        }
        await own.end();
      } finally {
        await server.stop();
      }
    },
  );

/** The output so far of a process that continues. */
const NOT_YET = Promise.resolve({ code: undefined });

/** Every request of the syncs was sent: no other process can look into the embedded warehouse. */
const sandboxIsQuiet = ({ sandbox }: Stage): boolean =>
  sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.user.education').length >= 10 &&
  sandbox.requests().filter(({ endpoint }) => endpoint === 'microblog.user').length >= MICROBLOGGERS;
