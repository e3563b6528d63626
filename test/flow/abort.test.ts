/** A signal drains a run; calls share what may be in flight, and a slow one holds up no other. */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { planSync } from '../../src/flow/prepare/plan-sync.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { door, until } from '../control/limiter-calls.ts';
import { select, states } from './rows.ts';
import { configOf, sentAgain, sceneIn, service } from './scene.ts';

const INPUTS = Array.from({ length: 12 }, (_, n) => `"${100 + n}"`).join(', ');
const config = (
  inFlight: number,
  pace: { readonly requests_per_second?: number } = {},
): string => `${service({ in_flight: inFlight, ...pace })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${INPUTS}] } }
  costs: { endpoint: token.requests, after: [groups] }
`;
const group = (number: number) => ({ body: [{ urn: { type: 'group', value: `g${number}` }, name: 'x' }] });

describe('a run', () => {
  const open = postgresWarehouses();

  it('that a signal ends awaits and stores what is in flight, sends nothing new, and is continued', async () => {
    const [stop, answers] = [new AbortController(), door()];
    let held = 0;
    const scene = await sceneIn(await open(), {
      respond: async ({ endpoint, number }) => {
        if (endpoint === 'token.requests') return undefined;
        held += 1;
        if (held <= 6) await answers.opened;
        return group(number);
      },
    });

    const running = scene.sync(config(3), { signal: stop.signal });
    await until(() => held === 3);
    stop.abort(new Error('SIGTERM'));
    answers.open();
    const { exitCode, syncs } = await running;

    expect(exitCode).toBe(5);
    expect(syncs).toMatchObject([
      { state: 'interrupted', exitCode: 5, sent: 3, answers: 3, loaded: 3, left: 9, inDoubt: 0 },
      { state: 'interrupted', exitCode: 5, runId: null },
    ]);
    expect(scene.sandbox.requests()).toHaveLength(3);
    expect(await states(scene.warehouse)).toEqual({ loaded: 3, planned: 9 });

    const again = await scene.sync(config(3));
    expect(again.syncs).toMatchObject([
      { state: 'complete', exitCode: 0, continued: true, answers: 12, left: 0 },
      { state: 'complete', exitCode: 0 },
    ]);
    expect(sentAgain(scene.sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.group')).size).toBe(0);
    expect(scene.notices).toEqual([]);
  });

  it('that is stopped while it waits to retry leaves the request planned', async () => {
    const stop = new AbortController();
    const scene = await sceneIn(await open(), {
      faults: [{ on: { nth: 2 }, do: { kind: 'status', status: 503 } }],
      respond: ({ number }) => group(number),
    });
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      if (ms >= 250 && ms < 3000) stop.abort(new Error('SIGINT'));
      return scene.clock.sleep(ms, signal, beside);
    };

    const [run] = (await scene.sync(config(1), { signal: stop.signal, sleep })).syncs;

    expect(run).toMatchObject({ state: 'interrupted', exitCode: 5, answers: 1, left: 11, points: 1 });
    expect(await states(scene.warehouse)).toEqual({ loaded: 1, planned: 11 });
  });

  it('that is stopped while requests wait for their start time does not count them as sent', async () => {
    const stop = new AbortController();
    const first = door();
    const scene = await sceneIn(await open(), {
      respond: ({ number }) => {
        first.open();
        return group(number);
      },
    });
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      if (beside === undefined && ms > 2) {
        await first.opened;
        stop.abort(new Error('SIGTERM'));
      }
      return scene.clock.sleep(ms, signal, beside);
    };

    const [run] = (await scene.sync(config(3, { requests_per_second: 50 }), { signal: stop.signal, sleep })).syncs;

    const sent = scene.sandbox.requests().length;
    expect(sent).toBeLessThan(12);
    expect(run).toMatchObject({
      state: 'interrupted',
      asked: sent,
      sent,
      answers: sent,
      left: 12 - sent,
      points: sent,
    });
  });

  it('that was done when the signal came is complete; those after it are not begun', async () => {
    const stop = new AbortController();
    const scene = await sceneIn(await open(), {
      respond: ({ number }) => {
        if (number === 12) stop.abort(new Error('SIGTERM'));
        return group(number);
      },
    });
    const { exitCode, syncs } = await scene.sync(config(1), { signal: stop.signal });
    expect(exitCode).toBe(5);
    expect(syncs).toMatchObject([
      { state: 'complete', exitCode: 0, answers: 12 },
      { state: 'interrupted', exitCode: 5, error: 'not started: stopped by a signal' },
    ]);
  });

  it('that is stopped while its plan is written leaves nothing of the plan', async () => {
    const warehouse = await open();
    const scene = await sceneIn(warehouse);
    const inputs = Array.from({ length: 2500 }, (_, n) => `"${n}"`).join(', ');
    const large = `${service()}\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: [${inputs}] } } }`;
    expect((await scene.sync(config(3), { names: ['costs'] })).exitCode).toBe(0);
    await sql
      .raw(
        `create function public.pause() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(1); return null; end';
         create trigger pause after insert on sluice_ops.requests for each statement execute function public.pause()`,
      )
      .execute(warehouse.db);
    const stop = new AbortController();

    const summary = await warehouse.db.connection().execute(async (held) => {
      await sql`select pg_advisory_lock(1)`.execute(held);
      const running = scene.sync(large, { signal: stop.signal });
      const isWriting = sql`select 1 from pg_locks where locktype = 'advisory' and objid = 1 and not granted`;
      while ((await isWriting.execute(held)).rows.length === 0) await setImmediate();
      stop.abort(new Error('SIGTERM'));
      await sql`select pg_advisory_unlock(1)`.execute(held);
      return running;
    });

    expect(summary.syncs).toMatchObject([{ state: 'interrupted', error: 'not started: stopped by a signal' }]);
    expect(await select(warehouse, "select 1 from sluice_ops.runs where sync = 'groups'")).toEqual([]);
    expect(await select(warehouse, "select 1 from sluice_ops.requests where sync = 'groups'")).toEqual([]);
    expect(scene.sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.group')).toEqual([]);
  });

  it('that is stopped while a query of its inputs runs ends at once, and is not begun', async () => {
    const warehouse = await open();
    const scene = await sceneIn(warehouse);
    const query = `select '1' as \\"group\\" from pg_sleep(600)`;
    const slow = `${service()}\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: { query: "${query}" } } } }`;
    const stop = new AbortController();
    const sleeping = sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;

    const running = scene.sync(slow, { signal: stop.signal });
    while ((await sleeping.execute(warehouse.db)).rows.length === 0) await setImmediate();
    stop.abort(new Error('SIGINT'));

    expect((await running).syncs).toMatchObject([{ state: 'interrupted', error: 'not started: stopped by a signal' }]);
    expect((await sleeping.execute(warehouse.db)).rows).toEqual([]);
    expect(await select(warehouse, 'select 1 from sluice_ops.runs')).toEqual([]);
  });

  it('is planned up to the part in which the signal comes', async () => {
    const scene = await sceneIn(await open());
    const inputs = Array.from({ length: 2500 }, (_, n) => `"${n}"`).join(', ');
    const { syncs } = await configOf(
      `${service()}\nsyncs: { groups: { endpoint: pronet.group, for_each: { group: [${inputs}] } } }`,
      scene.sandbox.url,
    );
    const [definition] = syncs;
    if (!definition) throw new Error('no sync');
    const stop = new AbortController();
    const now = scene.clock.now();
    const { parts } = await planSync(scene.warehouse, definition, { refresh: false, signal: stop.signal }, now);
    const planned = parts(operationsOf(scene.warehouse));
    expect((await planned.next()).value).toMatchObject({ tasks: { length: 1000 } });
    stop.abort(new Error('SIGINT'));
    await expect(planned.next()).rejects.toThrow('SIGINT');
  });

  it('with a signal that came before it begins nothing', async () => {
    const scene = await sceneIn(await open());
    const { exitCode, syncs } = await scene.sync(config(1), { signal: AbortSignal.abort(new Error('SIGINT')) });
    expect({ exitCode, states: syncs.map(({ state }) => state) }).toEqual({
      exitCode: 5,
      states: ['interrupted', 'interrupted'],
    });
    expect(scene.sandbox.requests()).toEqual([]);
  });

  it('never has more calls in flight than allowed, and a slow one holds up no other', async () => {
    const [four, slow] = [door(), door()];
    let answered = 0;
    const scene = await sceneIn(await open(), {
      respond: async ({ endpoint, number }) => {
        if (endpoint === 'token.requests') return undefined;
        if (number === 4) four.open();
        await (number === 2 ? slow : four).opened;
        answered += 1;
        if (answered === 11) slow.open();
        return group(number);
      },
    });

    const { syncs } = await scene.sync(config(4));

    expect(syncs).toMatchObject([{ exitCode: 0, answers: 12, loaded: 12 }, { exitCode: 0 }]);
    const calls = scene.sandbox.requests().filter(({ endpoint }) => endpoint === 'pronet.group');
    expect(Math.max(...calls.map(({ inFlight }) => inFlight))).toBe(4);
    // All other answers arrived while the second request was still in flight.
    expect(calls).toHaveLength(12);
    expect(calls.slice(2).every(({ inFlight }) => inFlight >= 2)).toBe(true);
  });
});
