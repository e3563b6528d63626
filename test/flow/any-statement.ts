/** Runs that lose the database at one statement each: a run ends as if nothing was, and buys nothing twice. */
import type { Summary } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { IS_LONG } from '../support/long.ts';
import { DAY_MS } from './clock.ts';
import { expireLeases } from './crash.ts';
import { withStatementSpy } from './statement-spy.ts';
import { oneGroup } from './chunks.ts';
import { sentAgain, type Scene, sceneIn } from './scene.ts';

/** Some hundred statements. */
export const PATIENT = { timeout: 600_000 };

/**
 * The statements whose commit begins a part of the work: a lease, the row of a run, a load, or the points of a run. One
 * statement of each part fails, so that the sweep repeats the work as often as the longest part has statements. In the
 * long form, the work is one part.
 */
const PART_BEGINS = /^(?:insert into "sluice_ops"."(?:leases|runs)"|update "sluice_ops"."(?:answers|runs)")/;

const away = (): Error =>
  Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });

interface Away {
  readonly warehouse: Warehouse;
  /** The statements that failed; none when no part has so many. */
  readonly met: readonly string[];
}

/** The warehouse with one statement of each part, by its number in the part from 1, that fails once. */
function awayAt(warehouse: Warehouse, nth: number): Away {
  let seen = 0;
  let hasBegun = false;
  const met: string[] = [];
  const statement = async <T>(text: string, run: () => Promise<T>): Promise<T> => {
    seen += 1;
    if (seen === nth) {
      met.push(text);
      hasBegun = false;
      throw away();
    }
    const result = await run();
    hasBegun ||= !IS_LONG && PART_BEGINS.test(text.trimStart());
    return result;
  };
  const beforeCommit = (): void => {
    if (hasBegun) seen = 0;
    hasBegun = false;
  };
  return {
    warehouse: {
      ...withStatementSpy(warehouse, { statement, beforeCommit }),
      session: (work, signal) =>
        warehouse.session((run, stream) => work((text) => statement(text, () => run(text)), stream), signal),
    },
    met,
  };
}

/**
 * Does the work until each of its statements has failed once, each time on a later day. Returns how many failed, and those
 * whose
 * failure it did not survive.
 */
export async function sweep(
  warehouse: Warehouse,
  work: (scene: Scene, disturbed: Warehouse) => Promise<{ readonly exitCode: number }>,
): Promise<{ readonly statements: number; readonly unborne: readonly unknown[] }> {
  const scene = await sceneIn(warehouse, { respond: oneGroup });
  const unborne: unknown[] = [];
  let statements = 0;
  for (let nth = 1; ; nth++) {
    scene.clock.advance(DAY_MS);
    const { warehouse: disturbed, met } = awayAt(warehouse, nth);
    const ended: unknown = await work(scene, disturbed).catch((error: unknown) => error);
    // The first run reads the log from its start twice, once for the limit in points and once for the sync; a page costs nothing.
    const bought = scene.arrived().filter(({ endpoint }) => endpoint !== 'token.requests');
    const again = [...sentAgain(bought)];
    if ((ended as { exitCode?: number }).exitCode !== 0 || again.length > 0)
      unborne.push([met, errorsOf(ended), again]);
    if (met.length === 0) return { statements, unborne };
    statements += met.length;
    await expireLeases(warehouse);
  }
}

/** Why a run ended as it did. */
const errorsOf = (ended: unknown): unknown =>
  ended instanceof Error ? ended.stack : (ended as Partial<Summary>).syncs?.map(({ sync, error }) => [sync, error]);
