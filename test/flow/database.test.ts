/** A database that is away for a moment loses nothing; one that stays away ends a run with 5, to be continued. */
import { describe, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { disturbedAt, expireLeases, STEP } from './crash.ts';
import { failingFrom } from './failing.ts';
import { rowsOf, select, states } from './rows.ts';
import { type Scene, sceneIn, service } from './scene.ts';

const CONFIG = `${service({ in_flight: 2 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
  user: { endpoint: microblog.user, request: { user: acme_labs } }
`;

const lostConnection = (): never => {
  throw new Error('Connection terminated unexpectedly');
};

async function expectAsIfNothingWas(scene: Scene): Promise<void> {
  expect(await states(scene.warehouse)).toEqual({ loaded: 4 });
  expect(scene.sandbox.requests()).toHaveLength(4);
  const answers = await select(
    scene.warehouse,
    'select count(*)::int as n, sum(received)::int as received, sum(loaded)::int as loaded, count(loaded_at)::int as done from sluice_ops.answers',
  );
  expect(answers).toEqual([{ n: 4, received: 4, loaded: 4, done: 4 }]);
}

eachWarehouse('a connection that is lost once', (open) => {
  it.each([
    ['before an answer is stored', { when: 'before', statement: STEP.store, nth: 2 }],
    ['after an answer was stored, before the result arrived', { when: 'after', statement: STEP.store, nth: 2 }],
    ['before a load is recorded', { when: 'before', statement: STEP.record, nth: 2 }],
    ['before a load is committed', { when: 'after', statement: STEP.record, nth: 2 }],
  ] as const)('%s: the work is done again, and counted once', async (_, point) => {
    const scene = await sceneIn(await open());

    const summary = await scene.sync(CONFIG, { warehouse: disturbedAt(scene.warehouse, point, lostConnection) });

    expect(summary).toMatchObject({
      exitCode: 0,
      syncs: [{ state: 'complete', received: 3, loaded: 3 }, { state: 'complete' }],
    });
    await expectAsIfNothingWas(scene);
  });

  it('while the ledger is read for open requests: it is read again', async () => {
    const scene = await sceneIn(await open());
    const point = {
      when: 'before',
      statement: /^select .* from "sluice_ops"."requests" where .*"run_id" = .* and "id" <= /,
      nth: 2,
    } as const;
    let times = 0;

    const summary = await scene.sync(CONFIG, {
      warehouse: disturbedAt(scene.warehouse, point, () => {
        times += 1;
        lostConnection();
      }),
    });

    expect(times).toBe(1);
    expect(summary).toMatchObject({ exitCode: 0, syncs: [{ state: 'complete', received: 3 }, { state: 'complete' }] });
    await expectAsIfNothingWas(scene);
  });
});

describe('a Postgres', () => {
  const open = postgresWarehouses();
  /** Ends every other connection to the database, as a restart would. */
  const cutAll = async (warehouse: Warehouse): Promise<void> => {
    await select(
      warehouse,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  };

  it('that ends every connection in the middle of a load loses nothing', async () => {
    const scene = await sceneIn(await open());
    const cut = disturbedAt(scene.warehouse, { when: 'after', statement: STEP.record, nth: 1 }, () =>
      cutAll(scene.warehouse),
    );
    const config = `${service()}\nsyncs: { user: { endpoint: microblog.user, request: { user: acme_labs } } }\n`;

    expect(await scene.sync(config, { warehouse: cut })).toMatchObject({
      exitCode: 0,
      syncs: [{ answers: 1, loaded: 1 }],
    });

    expect(scene.sandbox.requests()).toHaveLength(1);
    expect(Object.keys(await rowsOf(scene.warehouse))).toContain('microblog_users');
  });

  it.each([
    { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
    // A server on a Unix socket removes its file while it restarts.
    { code: 'ENOENT', message: 'connect ENOENT /run/postgresql/.s.PGSQL.5432', syscall: 'connect' },
    { message: 'timeout expired' },
    { code: '55000', message: 'object is not in prerequisite state' },
    { code: '55006', message: 'object is being accessed by other users' },
    { code: '25P03', message: 'terminating connection due to idle-in-transaction timeout' },
    { code: '26000', message: 'prepared statement "s1" does not exist' },
  ])(
    'that refuses with $code $message from a point on ends the run with 5, and the next one continues',
    async (found) => {
      const { message } = found;
      const warehouse = await open();
      const scene = await sceneIn(warehouse);
      const point = { when: 'before', statement: STEP.store, nth: 2 } as const;
      const failing = failingFrom(warehouse, point, () => Object.assign(new Error(message), found));

      const { exitCode, syncs } = await scene.sync(CONFIG, { warehouse: failing.warehouse });

      expect(exitCode).toBe(5);
      expect(syncs).toMatchObject([
        { exitCode: 5, error: `the database could not be used: ${message}` },
        { exitCode: 5 },
      ]);
      await expireLeases(warehouse);
      scene.arrived();
      expect(await scene.sync(CONFIG)).toMatchObject({ exitCode: 0, syncs: [{ continued: true, answers: 3 }, {}] });
      expect(scene.notices.length).toBeLessThanOrEqual(2);
      const sent = scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');
      expect(sent.length).toBeLessThanOrEqual(4);
      expect(Object.keys(await rowsOf(warehouse))).toContain('microblog_users');
    },
  );
});
