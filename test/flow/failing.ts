/** A warehouse whose database fails from a point on, however often it is tried, until it is let go. */
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { disturbedAt, type Point } from './crash.ts';
import { withStatementSpy } from './statement-spy.ts';

/** Every statement from the point on ends with this error. */
export function failingFrom(
  warehouse: Warehouse,
  point: Point,
  errorOf: () => Error,
): { readonly warehouse: Warehouse; readonly recover: () => void } {
  let isFailing = false;
  const fail = (): void => {
    if (isFailing) throw errorOf();
  };
  const disturbed = disturbedAt(warehouse, point, () => {
    isFailing = true;
    fail();
  });
  return {
    warehouse: withStatementSpy(disturbed, {
      statement: async (_, run) => {
        fail();
        return run();
      },
    }),
    recover: () => {
      isFailing = false;
    },
  };
}
