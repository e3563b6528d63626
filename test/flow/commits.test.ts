/** Answers and marks share commits, in an order in which the calls without an outcome never exceed the calls that may be in flight. */
import { setImmediate as others } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openInvocation } from '../../src/flow/run/invocation.ts';
import { invocationBudget } from '../../src/control/budget/budget.ts';
import { NO_ROW_COUNTER } from '../../src/flow/run/analyze-tables.ts';
import { runSync } from '../../src/sync.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { STEP } from './crash.ts';
import { withStatementSpy } from './statement-spy.ts';
import { select, states } from './rows.ts';
import { configOf, countingIds, only, type Scene, sceneIn, service } from './scene.ts';

const config = (inFlight: number): string => `${service({ in_flight: inFlight })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003", "1004", "1005", "1006"] } }
`;

/** Two runs of as many calls, with different requests. */
const twoSyncs = (inFlight: number): string => `${config(inFlight)}
  users: { endpoint: microblog.user, for_each: { user: [a, b, c, d, e, f] } }
`;

/** Runs all syncs of a config at once in one process, as the engine does, and returns their summaries. */
async function sideBySide(scene: Scene, warehouse: Warehouse, yaml: string) {
  const { clock, notices, sandbox } = scene;
  const read = await configOf(yaml, sandbox.url);
  const { now, sleep } = clock;
  const newId = countingIds(3);
  const effects = {
    now,
    sleep,
    random: () => 0.5,
    newId,
    onProgress: () => undefined,
    onNotice: notices.push.bind(notices),
  };
  const it = await openInvocation(read, warehouse, effects);
  const budget = await invocationBudget(warehouse, read.budget, {}, effects);
  const options = { refresh: false, failOnTruncated: false };
  try {
    return await Promise.all(
      read.syncs.map(async (definition) => {
        const run = { definition, options, budget, rowCounter: NO_ROW_COUNTER };
        const summary = await runSync(it, run, new AbortController().signal);
        return summary === 'shared' ? summary : { exitCode: summary.exitCode, answers: summary.answers };
      }),
    );
  } finally {
    await it.close();
  }
}

/** The commits of a run's calls in their order: what each did. */
function listened({ warehouse }: Scene) {
  const commits: string[] = [];
  const listening = withStatementSpy(warehouse, {
    statement: async (text, run) => {
      const does = (['store', 'send'] as const).filter((it) => STEP[it].test(text));
      if (does.length > 0) commits.push(does.join(' and '));
      return run();
    },
  });
  return { commits, warehouse: listening };
}

eachWarehouse('the commits of calls', (open) => {
  it('store an answer and mark the next request as sent in one', async () => {
    const scene = await sceneIn(await open());
    const { commits, warehouse } = listened(scene);
    expect(only(await scene.sync(config(1), { warehouse }))).toMatchObject({ exitCode: 0, answers: 6 });
    expect(commits).toEqual(['send', ...Array(5).fill('store and send'), 'store']);
  });

  it('free the slot of a refused call also if the database is away for long', async () => {
    const users = `
  users: { endpoint: microblog.user, request: { user: acme_labs } }`;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) => (endpoint === 'pronet.group' ? { status: 503, body: { detail: 'later' } } : undefined),
    });
    let tries = 0;
    const warehouse = withStatementSpy(scene.warehouse, {
      statement: async (text, run) => {
        if (scene.sandbox.requests().length > 0 && /"forgotten"/.test(text) && ++tries <= 8)
          throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        return run();
      },
    });
    const { syncs } = await scene.sync(config(1) + users, { warehouse });
    expect(syncs).toMatchObject([{ exitCode: 5 }, { exitCode: 0, answers: 1 }]);
  });

  it('mark nothing after an answer that is refused, and send nothing', async () => {
    const scene = await sceneIn(await open());
    const warehouse = withStatementSpy(scene.warehouse, {
      statement: async (text, run) => {
        if (STEP.store.test(text)) throw Object.assign(new Error('a value that no column takes'), { code: '22P05' });
        return run();
      },
    });
    await expect(scene.sync(config(1), { warehouse })).rejects.toThrow('a value that no column takes');
    expect(scene.arrived()).toHaveLength(1);
    expect(await states(scene.warehouse)).toEqual({ sent: 1, planned: 5 });
    expect(await select(scene.warehouse, 'select sum(attempts)::int as n from sluice_ops.requests')).toEqual([
      { n: 1 },
    ]);
  });
});

describe('the commits of calls, seen from another connection', () => {
  const open = postgresWarehouses();

  it('never leave more requests marked as sent than calls may be in flight', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    const sent: number[] = [];
    const looking = withStatementSpy(warehouse, {
      statement: async (text, run) => {
        const result = await run();
        if (STEP.send.test(text) || STEP.store.test(text)) sent.push((await states(warehouse))['sent'] ?? 0);
        return result;
      },
    });
    expect(only(await scene.sync(config(2), { warehouse: looking }))).toMatchObject({ exitCode: 0, answers: 6 });
    expect(Math.max(...sent)).toBe(2);
  });

  it('never do so either where runs share a process, and one waits for its answers to be stored', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    const sent: number[] = [];
    const slow = withStatementSpy(warehouse, {
      statement: async (text, run) => {
        // Time enough for another run to send what it has a slot for.
        if (STEP.store.test(text)) for (let turn = 0; turn < 200; turn += 1) await others();
        const result = await run();
        if (STEP.send.test(text) || STEP.store.test(text)) sent.push((await states(warehouse))['sent'] ?? 0);
        return result;
      },
    });
    expect(await sideBySide(scene, slow, twoSyncs(2))).toEqual([
      { exitCode: 0, answers: 6 },
      { exitCode: 0, answers: 6 },
    ]);
    expect(Math.max(...sent)).toBe(2);
  });
});
