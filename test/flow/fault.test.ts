/** A bug of this program on one answer: the answer is kept and named, and the run continues. */
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import type { normalize } from '../../src/normalize/normalize.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { listQuarantine } from '../../src/ledger/quarantine.ts';
import { rowsOf, select, states } from './rows.ts';
import { only, sceneIn, service } from './scene.ts';

// Test files of a worker share loaded modules, so modules that import the mock are loaded only for this file.
vi.hoisted(() => vi.resetModules());
afterAll(() => {
  vi.resetModules();
});

/** What the program does with an answer before it reads it; a fault throws. */
let onRead: (text: string) => void = () => undefined;
beforeEach(() => {
  onRead = () => undefined;
});
vi.mock(import('../../src/normalize/normalize.ts'), async (original) => {
  const real = await original();
  const faulty: typeof normalize = (endpoint, keyed, body) => {
    onRead(Buffer.from(body).toString());
    return real.normalize(endpoint, keyed, body);
  };
  return { ...real, normalize: faulty };
});

const CONFIG = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
`;

anyWarehouse('a normalizer that fails on one answer', (open) => {
  it.each([
    [
      'a mistake',
      () => new TypeError("Cannot read properties of undefined (reading 'x\0y')"),
      /TypeError: Cannot read/,
    ],
    ['an invariant', () => new Error('this can’t be'), /Error: this can’t be/],
    ['a deep recursion', () => new RangeError('Maximum call stack size exceeded'), /RangeError: Maximum call/],
  ])('by %s quarantines that one, reports it, and loads the others', async (_, error, said) => {
    const scene = await sceneIn(await open());
    const undisturbed = await sceneIn(await open());
    await undisturbed.sync(CONFIG);
    let count = 0;
    onRead = () => {
      count += 1;
      if (count === 2) throw error();
    };

    const run = only(await scene.sync(CONFIG));

    expect(run).toMatchObject({ exitCode: 4, state: 'partial', answers: 3, loaded: 2, quarantined: 1 });
    expect(run.received).toBe(run.loaded + run.unchanged + run.superseded + run.quarantined);
    expect(await states(scene.warehouse)).toEqual({ loaded: 2, quarantined: 1 });
    const [entry] = await listQuarantine(scene.warehouse, 9);
    expect(entry).toMatchObject({ position: null, reason: expect.stringMatching(said) });
    expect(entry?.reason).toMatch(/^a fault of this program while reading it, not of the answer/);
    expect(scene.notices).toMatchObject([{ level: 'warn', sync: 'groups', message: expect.stringMatching(said) }]);

    // With the bug still there nothing gets worse; after a fix the stored bytes load.
    onRead = () => {
      throw error();
    };
    expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 1, quarantined: 1 });
    onRead = () => undefined;
    expect(await scene.replay({ quarantined: true })).toMatchObject({ answers: 1, loaded: 1, quarantined: 0 });
    expect(await listQuarantine(scene.warehouse, 9)).toEqual([]);
    expect(await states(scene.warehouse)).toEqual({ loaded: 3 });
    expect(await rowsOf(scene.warehouse)).toEqual(await rowsOf(undisturbed.warehouse));
    expect(scene.sandbox.requests()).toHaveLength(3);
  });

  it('and reads it after a newer one counts its items as superseded, and its drift once', async () => {
    const people = (title: string) =>
      ['A', 'B'].map((value) => ({
        urn: { type: 'fsd_profile', value },
        name: title,
        ...(title === 'x' && { mood: 1 }),
      }));
    const scene = await sceneIn(await open(), {
      respond: ({ body }) => ({ body: people((body as { readonly title: string }).title) }),
    });
    const config = `${service()}
syncs:
  one: { endpoint: pronet.search.users, request: { title: x, count: 9 }, accept: { rejects: 100% } }
  two: { endpoint: pronet.search.users, request: { title: y, count: 9 } }
`;
    onRead = (text) => {
      if (text.includes('mood')) throw new TypeError('a mistake');
    };
    await scene.sync(config);
    onRead = () => undefined;

    expect(await scene.replay({ quarantined: true })).toMatchObject({ received: 2, loaded: 0, superseded: 2 });

    const counts = () =>
      select(
        scene.warehouse,
        `select received::int, loaded::int, changed::int, unchanged::int, superseded::int, quarantined::int
          from sluice_ops.answers where sync = 'one'`,
      );
    const drift = () => select(scene.warehouse, "select path, count::int from sluice_ops.drift where path = 'mood'");
    const none = { loaded: 0, changed: 0, unchanged: 0, quarantined: 0 };
    expect(await counts()).toEqual([{ ...none, received: 2, superseded: 2 }]);
    expect(await drift()).toEqual([{ path: 'mood', count: 2 }]);
    await scene.replay();
    expect(await counts()).toEqual([{ ...none, received: 2, superseded: 2 }]);
    expect(await drift()).toEqual([{ path: 'mood', count: 2 }]);
  });

  it('by whatever it throws does not keep the next run from its work', async () => {
    const scene = await sceneIn(await open());
    onRead = () => {
      throw new TypeError('always');
    };
    expect(only(await scene.sync(CONFIG))).toMatchObject({ exitCode: 4, quarantined: 3 });
    onRead = () => undefined;
    expect(only(await scene.sync(CONFIG))).toMatchObject({ exitCode: 0, continued: false, loaded: 3 });
  });

  it('keeps a rebuild from taking the place of tables that hold its rows', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(CONFIG);
    const before = await rowsOf(scene.warehouse, { machinery: true });
    onRead = () => {
      throw new TypeError('now and then');
    };
    await expect(scene.replay({ rebuild: true })).rejects.toThrow('now and then');
    expect(await rowsOf(scene.warehouse, { machinery: true })).toEqual(before);
    expect(await select(scene.warehouse, "select 1 from pg_namespace where nspname = 'sluice_rebuild'")).toEqual([]);
  });
});
