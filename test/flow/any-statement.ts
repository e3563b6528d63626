/** Runs that lose the database at one statement each: a run ends as if nothing was, and buys nothing twice. */
import type { Summary } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { DAY_MS } from './clock.ts';
import { expireLeases } from './crash.ts';
import { withStatementSpy } from './statement-spy.ts';
import { oneGroup } from './chunks.ts';
import { sentAgain, type Scene, sceneIn } from './scene.ts';

/** Some hundred statements, each in a run of its own. */
export const PATIENT = { timeout: 600_000 };

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
      ...withStatementSpy(warehouse, { statement }),
      session: (work, signal) => warehouse.session((run) => work((text) => statement(text, () => run(text))), signal),
    },
    met: () => met,
  };
}

/** Does the work once for each of its statements, each time on a later day, and returns the statements whose failure it did not survive. */
export async function sweep(
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
    const again = [...sentAgain(bought)];
    if ((ended as { exitCode?: number }).exitCode !== 0 || again.length > 0)
      unborne.push([met(), errorsOf(ended), again]);
    if (met() === undefined) return { statements: nth - 1, unborne };
    await expireLeases(warehouse);
  }
}

/** Why a run ended as it did. */
const errorsOf = (ended: unknown): unknown =>
  ended instanceof Error ? ended.stack : (ended as Partial<Summary>).syncs?.map(({ sync, error }) => [sync, error]);
