/** A warehouse whose database fails from a point on, however often it is tried, until it is let go. */
import type { Warehouse } from '../../src/warehouse/connect.ts';
import { disturbedAt, type Point } from './crash.ts';

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
  const db = disturbed.db.withPlugin({
    transformQuery: ({ node }) => {
      fail();
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return {
    warehouse: { ...disturbed, db },
    recover: () => {
      isFailing = false;
    },
  };
}
