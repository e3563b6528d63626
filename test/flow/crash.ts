/** A process that dies at a named point: from there on none of its statements reaches the database. */
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { withStatementSpy } from './statement-spy.ts';
import { select } from './rows.ts';

/** Where to die: before a statement reaches the database, or after it did its work. */
export interface Point {
  readonly when: 'before' | 'after';
  /** Matches the statement's text. */
  readonly statement: Pick<RegExp, 'test'>;
  /** Which of the statements that match, from 1. */
  readonly nth: number;
}

/** Statements by their purpose in the flow. One that stores an answer may also mark the next request as sent. */
export const STEP = {
  send: /update "sluice_ops"."requests" set "state" = \S+ "attempts" = attempts \+ 1/,
  store: /^with "received" as .*insert into "sluice_ops"."answers"/s,
  record: /^update "sluice_ops"."answers" set .*"loaded_at"/,
  end: /^update "sluice_ops"."runs" set .*"planned"/,
} as const;

export class Died extends Error {}

/** The warehouse as a process sees it that dies at the point; `reached` then says so. */
export function dyingAt(
  warehouse: Warehouse,
  point: Point,
  onDeath: () => void = () => undefined,
): { readonly warehouse: Warehouse; readonly reached: () => boolean } {
  let dead = false;
  const die = (): never => {
    if (!dead) {
      dead = true;
      onDeath();
    }
    throw new Died(`died ${point.when} ${point.statement instanceof RegExp ? point.statement.source : 'a statement'}`);
  };
  return { warehouse: watched(warehouse, point, die, () => (dead ? die() : undefined)), reached: () => dead };
}

/** The warehouse with something that happens at the point, and nothing afterwards. */
export const disturbedAt = (warehouse: Warehouse, point: Point, happening: () => unknown): Warehouse =>
  watched(warehouse, point, happening, () => undefined);

/** Calls `atPoint` at the point, and `always` around every statement. What happens at the point is waited for. */
function watched(
  warehouse: Warehouse,
  { when, statement, nth }: Point,
  atPoint: () => unknown,
  always: () => unknown,
): Warehouse {
  let seen = 0;
  return withStatementSpy(warehouse, {
    statement: async (text, run) => {
      always();
      const isPoint = statement.test(text) && ++seen === nth;
      if (isPoint && when === 'before') await atPoint();
      const result = await run();
      always();
      if (isPoint && when === 'after') await atPoint();
      return result;
    },
    beforeCommit: always,
  });
}

/** Ends every lease and frees every slot, as time would, so that a test need not wait for those of a dead process. */
export async function expireLeases(warehouse: Warehouse): Promise<void> {
  await expireSlots(warehouse);
  await select(
    warehouse,
    `update sluice_ops.leases set expires_at = clock_timestamp() - interval '1 s' returning name`,
  );
}

/** Frees every slot of the limiter, as time would. */
export const expireSlots = (warehouse: Warehouse): Promise<unknown> =>
  select(
    warehouse,
    `update sluice_ops.limiter_slots set expires_at = clock_timestamp() - interval '1 s' returning number`,
  );
