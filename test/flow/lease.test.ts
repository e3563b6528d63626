/** Two processes on one Postgres: one of them has a sync at a time, and who comes back late changes nothing. */
import type { Clock } from './clock.ts';
import { describe, expect, it } from 'vitest';
import type { Responded } from '../../src/sandbox/options.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { expireLeases } from './crash.ts';
import { door, until } from '../control/limiter-calls.ts';
import { rowsOf, select, states } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const GROUPS = '\n  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }';
const USERS = '\n  users: { endpoint: microblog.user, request: { user: acme_labs } }';
const PEOPLE =
  '\n  people: { endpoint: pronet.search.users, request: { count: 5 }, for_each: { location: [Berlin, Paris] } }';
const SCHOOLS = `
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 100 }
    for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users" } }`;
const AFTER_PEOPLE = '\n  users: { endpoint: microblog.user, after: [people], request: { user: acme_labs } }';
const config = (...syncs: readonly string[]): string => `${service()}\nsyncs:${syncs.join('')}\n`;

/** A scene whose nth request is held until the door opens. */
async function holding(
  open: ReturnType<typeof postgresWarehouses>,
  nth: number,
): Promise<Scene & { readonly held: ReturnType<typeof door>; readonly release: () => void }> {
  const [held, release] = [door(), door()];
  const scene = await sceneIn(await open(), {
    respond: async ({ number }) => {
      if (number === nth) {
        held.open();
        await release.opened;
      }
      return undefined;
    },
  });
  return { ...scene, held, release: release.open };
}

describe('the lease of a sync', () => {
  const open = postgresWarehouses();

  it('is held by one run; in another invocation that sync ends with 7, and its other syncs run', async () => {
    const scene = await holding(open, 2);
    const first = scene.sync(config(GROUPS));
    await scene.held.opened;

    // The first has a call in flight with the same token.
    const two = config(GROUPS, USERS).replace('in_flight: 1', 'in_flight: 2');
    const { exitCode, syncs } = await scene.sync(two);

    expect(exitCode).toBe(7);
    expect(syncs).toMatchObject([
      { sync: 'groups', exitCode: 7, state: 'failed', sent: 0 },
      { sync: 'users', exitCode: 0, state: 'complete' },
    ]);
    expect(syncs[0]?.error).toContain('Another run holds the lease of sync:groups');
    scene.release();
    expect(only(await first)).toMatchObject({ exitCode: 0, answers: 3 });
    // After its release it is free immediately.
    expect(only(await scene.sync(config(GROUPS))).exitCode).toBe(0);
  });

  it('keeps a sync from starting whose query reads rows that the held sync still loads; others run', async () => {
    const scene = await holding(open, 2);
    const yaml = config(PEOPLE, SCHOOLS, AFTER_PEOPLE).replace('in_flight: 1', 'in_flight: 2');
    const first = scene.sync(config(PEOPLE));
    await scene.held.opened;
    await until(async () => (await select(scene.warehouse, 'select 1 from sluice.pronet_users')).length > 0);

    const { exitCode, syncs } = await scene.sync(yaml);

    expect(exitCode).toBe(7);
    expect(syncs).toMatchObject([
      { sync: 'people', exitCode: 7, state: 'failed' },
      {
        sync: 'schools',
        exitCode: 7,
        state: 'interrupted',
        sent: 0,
        error: 'not started: people did not finish, and the query reads what it loads',
      },
      { sync: 'users', exitCode: 0, state: 'complete' },
    ]);
    scene.release();
    await first;
    const people = await select(scene.warehouse, 'select urn_value from sluice.pronet_users');
    expect((await scene.sync(yaml)).syncs).toMatchObject([
      { exitCode: 0 },
      { sync: 'schools', exitCode: 0, sent: people.length },
      { exitCode: 0 },
    ]);
  });

  it('is taken over when its holder is silent; who comes back late loads nothing, sends nothing and ends no run', async () => {
    const scene = await holding(open, 2);
    const late = scene.sync(config(GROUPS));
    await scene.held.opened;
    await expireLeases(scene.warehouse);

    const taken = only(await scene.sync(config(GROUPS)));
    expect(taken).toMatchObject({ exitCode: 0, state: 'complete', continued: true, answers: 3 });
    expect(scene.notices).toHaveLength(1);
    const before = await rowsOf(scene.warehouse, { machinery: true });
    const run = 'select state, exit_code, stored, ended_at from sluice_ops.runs';
    const ended = await select(scene.warehouse, run);
    scene.arrived();

    scene.release();
    const { exitCode, error } = only(await late);

    expect(exitCode).toBe(7);
    expect(error).toContain('taken over');
    expect(scene.arrived()).toEqual([]);
    expect(await rowsOf(scene.warehouse, { machinery: true })).toEqual(before);
    expect(await select(scene.warehouse, run)).toEqual(ended);
    // The answer was paid for, so it is kept, and the next holder loads it.
    expect(
      await select(scene.warehouse, "select count(*)::int as n from sluice_ops.answers where sync = 'groups'"),
    ).toEqual([{ n: 4 }]);
    expect(only(await scene.sync(config(GROUPS))).exitCode).toBe(0);
    expect(await states(scene.warehouse)).toEqual({ loaded: 6 });
    expect(
      await select(scene.warehouse, 'select count(*)::int as n from sluice_ops.answers where loaded_at is null'),
    ).toEqual([{ n: 0 }]);
  });

  /** Takes the run over while its call for group 1002 is in flight; each of both calls gets the answer of its number. */
  const takenOverInFlight = async (answer: (call: number) => Responded | undefined, inFlight = 1) => {
    const yaml = config(GROUPS).replace('in_flight: 1', `in_flight: ${inFlight}`);
    const [second, again] = [door(), door()];
    const [held, heldAgain] = [door(), door()];
    let times = 0;
    const scene = await sceneIn(await open(), {
      respond: async ({ body }) => {
        if ((body as { group: string }).group !== '1002') return undefined;
        times += 1;
        const call = times;
        const [arrived, released] = call === 1 ? [held, second] : [heldAgain, again];
        arrived.open();
        await released.opened;
        return answer(call);
      },
    });
    const late = scene.sync(yaml);
    await held.opened;
    // Only the held call is in flight.
    if (inFlight > 1) await until(async () => (await states(scene.warehouse))['loaded'] === 2);
    await expireLeases(scene.warehouse);
    const owner = scene.sync(yaml);
    await heldAgain.opened;
    // The late one's answer comes first, for a request that the other has just sent.
    second.open();
    expect(only(await late).exitCode).toBe(7);
    const meanwhile = await states(scene.warehouse);
    again.open();
    return { scene, meanwhile, owner: only(await owner) };
  };

  it('taken over while a call is in flight: both answers are kept, and the run that has the lease ends well', async () => {
    const { scene, owner } = await takenOverInFlight(() => undefined);

    expect(owner).toMatchObject({ exitCode: 0, state: 'complete', continued: true, left: 0, inDoubt: 0 });
    const sums =
      "select count(*)::int as n, count(loaded_at)::int as loaded, count(distinct request_id)::int as requests from sluice_ops.answers where sync = 'groups'";
    expect(await select(scene.warehouse, sums)).toEqual([{ n: 4, loaded: 4, requests: 3 }]);
    expect(await states(scene.warehouse)).toEqual({ loaded: 3 });
    expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.pronet_groups')).toEqual([{ n: 3 }]);
  });

  it('taken over while a call is in flight: a replay loads both answers, and a rebuild keeps the rows of both', async () => {
    const { scene } = await takenOverInFlight((call) => ({
      body: [{ urn: { type: 'group', value: `of call ${call}` }, name: 'n', url: 'u' }],
    }));
    const groups = () => select(scene.warehouse, 'select urn_value as value from sluice.pronet_groups order by 1');
    const both = await groups();
    expect(both).toHaveLength(4);
    expect(both).toEqual(expect.arrayContaining([{ value: 'of call 1' }, { value: 'of call 2' }]));

    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, answers: 4 });
    expect(await groups()).toEqual(both);
    await select(scene.warehouse, 'delete from sluice.pronet_groups returning name');
    expect(await scene.replay()).toMatchObject({ exitCode: 0, answers: 4 });
    expect(await groups()).toEqual(both);
  });

  it.each<[string, Responded]>([
    ['a refusal', { status: 503, body: { detail: 'later' } }],
    ['an error', { status: 422, body: { detail: 'no' } }],
  ])('taken over while a call is in flight: %s of the late holder does not change the new attempt', async (_, late) => {
    // The late holder needs a slot of its own to find out.
    const { scene, meanwhile, owner } = await takenOverInFlight((call) => (call === 1 ? late : undefined), 2);

    expect(meanwhile).toMatchObject({ sent: 1 });
    expect(owner).toMatchObject({ exitCode: 0, state: 'complete', continued: true, answers: 3, inDoubt: 0 });
    expect(await states(scene.warehouse)).toEqual({ loaded: 3 });
    const lost = 'select attempt::int from sluice_ops.lost_answers';
    expect(await select(scene.warehouse, lost)).toEqual([{ attempt: 1 }]);
  });

  it('is kept alive by a heartbeat, by the clock of the database', async () => {
    const scene = await holding(open, 2);
    let beats = 0;
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      // The first heartbeat comes immediately; the others wait for the end.
      if (beside && beats === 0) {
        await scene.held.opened;
        beats += 1;
        return;
      }
      await scene.clock.sleep(ms, signal, beside);
    };
    const running = scene.sync(config(GROUPS), { sleep });
    await scene.held.opened;
    await until(async () => {
      const [lease] = await select<{ kept: boolean }>(
        scene.warehouse,
        "select expires_at > acquired_at + interval '12 s' as kept from sluice_ops.leases where name = 'sync:groups'",
      );
      return lease?.kept === true;
    });
    scene.release();
    expect(only(await running).exitCode).toBe(0);
  });

  it('that was lost is noticed by the heartbeat: nothing more is sent', async () => {
    const scene = await holding(open, 1);
    const beat = door();
    let beats = 0;
    const sleep: Clock['sleep'] = async (ms, signal, beside) => {
      if (beside && beats === 0) {
        await beat.opened;
        beats += 1;
        return;
      }
      await scene.clock.sleep(ms, signal, beside);
    };
    const late = scene.sync(config(GROUPS), { sleep });
    await scene.held.opened;
    await select(scene.warehouse, "update sluice_ops.leases set token = token + 1, holder = 'another' returning name");
    beat.open();
    // The slots have a heartbeat too.
    await until(() => beats > 0);
    scene.release();

    expect(only(await late)).toMatchObject({ exitCode: 7 });
    expect(scene.sandbox.requests()).toHaveLength(1);
  });

  it('of a rebuild keeps every sync out, and a sync that runs keeps a rebuild out', async () => {
    const scene = await holding(open, 2);
    await scene.sync(config(USERS));
    const running = scene.sync(config(GROUPS));
    await scene.held.opened;
    await expect(scene.replay({ rebuild: true })).rejects.toMatchObject({ exitCode: 7 });
    scene.release();
    await running;

    await select(
      scene.warehouse,
      "update sluice_ops.leases set expires_at = now() + interval '1 minute' where name = 'rebuild' returning name",
    );
    expect((await scene.sync(config(GROUPS, USERS))).syncs).toMatchObject([{ exitCode: 7 }, { exitCode: 7 }]);
    await expect(scene.replay()).rejects.toMatchObject({ exitCode: 7 });
    await expireLeases(scene.warehouse);
    expect((await scene.replay({ rebuild: true })).exitCode).toBe(0);
  });
});
