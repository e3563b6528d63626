/** A database that is away at any one statement of a run: the run ends as if nothing was, and buys nothing twice. */
import { expect, it } from 'vitest';
import type { Summary } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { Died, dyingAt, expireLeases, STEP } from './crash.ts';
import { overheard } from './statement-spy.ts';
import { groupsConfig, oneGroup, shared } from './chunks.ts';
import { askedAgain, type Scene, sceneIn, service } from './scene.ts';

const open = postgresWarehouses();
/** Some hundred statements, each in a run of its own. */
const PATIENT = { timeout: 600_000 };

const away = (): Error =>
  Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });

interface Away {
  readonly warehouse: Warehouse;
  /** The statement that failed; undefined when there were not so many. */
  readonly met: () => string | undefined;
}

/** The warehouse with one statement, by its number from 1, that fails once. */
function awayAt(warehouse: Warehouse, nth: number): Away {
  let seen = 0;
  let met: string | undefined;
  const statement = <T>(text: string, run: () => Promise<T>): Promise<T> => {
    seen += 1;
    if (seen !== nth) return run();
    met = text;
    return Promise.reject(away());
  };
  return {
    warehouse: {
      ...overheard(warehouse, { statement }),
      session: (work, signal) => warehouse.session((run) => work((text) => statement(text, () => run(text))), signal),
    },
    met: () => met,
  };
}

/** Does the work once for each of its statements, each time on a later day, and returns the statements that it did not bear. */
async function sweep(
  warehouse: Warehouse,
  work: (scene: Scene, disturbed: Warehouse) => Promise<{ readonly exitCode: number }>,
): Promise<{ readonly statements: number; readonly unborne: readonly unknown[] }> {
  const scene = await sceneIn(warehouse, { respond: oneGroup });
  const unborne: unknown[] = [];
  for (let nth = 1; ; nth++) {
    scene.clock.advance(DAY_MS);
    const { warehouse: disturbed, met } = awayAt(warehouse, nth);
    const ended: unknown = await work(scene, disturbed).catch((error: unknown) => error);
    // The first run reads the log from its start twice, once for the limit in points and once for the sync; a page costs nothing.
    const bought = scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');
    const again = [...askedAgain(bought)];
    if ((ended as { exitCode?: number }).exitCode !== 0 || again.length > 0)
      unborne.push([met(), errorsOf(ended), again]);
    if (met() === undefined) return { statements: nth - 1, unborne };
    await expireLeases(warehouse);
  }
}

/** Why a run ended as it did. */
const errorsOf = (ended: unknown): unknown =>
  ended instanceof Error ? ended.stack : (ended as Partial<Summary>).syncs?.map(({ sync, error }) => [sync, error]);

it('of syncs that page, look for what is known, and read the log', PATIENT, async () => {
  const config = `${service()}
budget: { per_day: 1000000 }
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 20 }
    window: { from: 2026-02-02, to: 2026-02-04 }
  users:
    endpoint: microblog.user
    max_age: 1s
    for_each: { user: { query: "select 'acme_labs' as user" } }
  log: { endpoint: token.requests }
`;
  const { statements, unborne } = await sweep(await open(), (scene, disturbed) =>
    scene.sync(config, { warehouse: disturbed }),
  );
  expect(unborne).toEqual([]);
  expect(statements).toBeGreaterThan(150);
});

it('of a run that goes on with what a process that died left under way', PATIENT, async () => {
  const config = `${service()}\nsyncs: { groups: { endpoint: pronet.group, request: { group: "1001" } } }\n`;
  const { statements, unborne } = await sweep(await open(), async (scene, disturbed) => {
    const { warehouse } = dyingAt(scene.warehouse, { when: 'after', statement: STEP.send, nth: 1 });
    await expect(scene.sync(config, { warehouse })).rejects.toThrow(Died);
    await expireLeases(scene.warehouse);
    return scene.sync(config, { warehouse: disturbed });
  });
  expect(unborne).toEqual([]);
  expect(statements).toBeGreaterThan(50);
});

it('of the chunks of a run', PATIENT, async () => {
  const { statements, unborne } = await sweep(await open(), async (scene, disturbed) => {
    const { orders, work } = await shared(scene, groupsConfig(2), { chunkSize: 1, warehouse: disturbed });
    await work(orders[0], { warehouse: disturbed });
    const end = await work(orders[1], { warehouse: disturbed });
    return { exitCode: end.as === 'concluded' ? end.exitCode : -1 };
  });
  expect(unborne).toEqual([]);
  expect(statements).toBeGreaterThan(50);
});
