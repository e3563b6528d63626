/** Loads that wait for a lock of another session leave connections to leases, the limiter and the ledger. */
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import type { HeartbeatSleep } from '../../src/control/lease/heartbeat.ts';
import { allowSilence } from '../../src/warehouse/connect/idle-limit.ts';
import { door, until } from '../control/limiter-calls.ts';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate, SCHEMA } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { expireLeases } from './crash.ts';
import { select, states } from './rows.ts';
import { only, sceneIn, service } from './scene.ts';

/** More than the connections of a process. */
const SYNCS = 8;
const PAGES = 4;

const PAGE = { '@type': '@web_parser_result', title: 'a page', cleaned_html: 'text '.repeat(20_000) };

const yamlOf = (sync: number): string => {
  const urls = Array.from({ length: PAGES }, (_, page) => `https://site-${sync}.example/p${page}`);
  return `${service({ in_flight: SYNCS })}
syncs:
  pages_${sync}: { endpoint: webparser.parse, for_each: { url: [${urls.join(', ')}] } }
`;
};

/** Two processes with the same database: one that works, and another. */
async function twoProcesses(): Promise<readonly [Warehouse, Warehouse]> {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  const open = async (): Promise<Warehouse> => {
    const warehouse = await openWarehouse({ url: new Secret(database.url), schema: SCHEMA }, realEffects);
    onTestFinished(() => warehouse.close());
    return warehouse;
  };
  return [await open(), await open()];
}

/** Locks a table as `alter table` would, until the returned function is called. */
async function locked({ db }: Warehouse, table: string): Promise<() => Promise<void>> {
  const [taken, release] = [door(), door()];
  const holding = db.transaction().execute(async (tx) => {
    await sql`lock table ${sql.id(SCHEMA, table)} in access exclusive mode`.execute(tx);
    await allowSilence(tx);
    taken.open();
    await release.opened;
  });
  await Promise.race([taken.opened, holding]);
  const unlock = (): Promise<void> => {
    release.open();
    return holding;
  };
  onTestFinished(unlock);
  return unlock;
}

/** A sleep whose heartbeats come when the test says so. */
function heartbeats(): { readonly sleep: HeartbeatSleep; readonly beat: () => void } {
  let next = door();
  return {
    sleep: (_, signal) => {
      const aborted = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => aborted.reject(signal.reason as Error), { once: true });
      return Promise.race([next.opened, aborted.promise]);
    },
    beat: () => {
      next.open();
      next = door();
    },
  };
}

const WAITING = `select 1 from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'relation'`;

const alive = (other: Warehouse, table: string): Promise<unknown[]> =>
  select(other, `select 1 from sluice_ops.${table} where expires_at > clock_timestamp()`);

describe('loads that wait for the lock of another session', () => {
  it('leave connections: requests are sent and stored, and leases and slots are renewed', async () => {
    const [warehouse, other] = await twoProcesses();
    const last = door();
    let arrived = 0;
    const scene = await sceneIn(warehouse, {
      respond: async ({ body }) => {
        arrived += 1;
        if (arrived > SYNCS * (PAGES - 1)) await last.opened;
        return { body: [{ ...PAGE, url: (body as { readonly url: string }).url }] };
      },
    });
    const { sleep: clockSleep } = scene.clock;
    const { sleep: heartbeat, beat } = heartbeats();
    const sleep = (ms: number, signal?: AbortSignal, beside?: 'heartbeat'): Promise<void> =>
      beside && signal ? heartbeat(ms, signal, beside) : clockSleep(ms, signal);
    onTestFinished(last.open);
    const unlock = await locked(other, 'web_pages');
    const running = Array.from({ length: SYNCS }, (_, sync) => scene.sync(yamlOf(sync), { sleep }));

    // Each sync has an answer whose load waits.
    await until(async () => {
      const { stored = 0, sent = 0 } = await states(other);
      return stored === SYNCS * (PAGES - 1) && sent === SYNCS;
    });
    await until(async () => (await select(other, WAITING)).length >= 4);

    await expireLeases(other);
    beat();
    await until(async () => (await alive(other, 'leases')).length === SYNCS);
    await until(async () => (await alive(other, 'limiter_slots')).length === SYNCS);
    last.open();
    await until(async () => (await states(other))['stored'] === SYNCS * PAGES);
    expect(await select(other, WAITING)).toHaveLength(4);

    await unlock();
    const ended = (await Promise.all(running)).map(only);
    expect(ended.map(({ exitCode, answers }) => [exitCode, answers])).toEqual(ended.map(() => [0, PAGES]));
    expect(scene.arrived()).toHaveLength(SYNCS * PAGES);
  });
});
