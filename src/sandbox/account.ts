/** The token and its points. */
import { invalidToken, outOfPoints, type SandboxRefusal } from './refusal.ts';

export interface Account {
  /** Points that are not spent, including reservations of running requests. */
  readonly left: () => number;
  /** The refusal of the token; undefined if it is accepted. */
  readonly refuses: (token: string | undefined) => SandboxRefusal | undefined;
  readonly isRevoked: () => boolean;
  /**
   * Reserves the maximum cost of a request and returns a function that settles it at its actual cost, or returns a
   * refusal. So two concurrent requests cannot both spend the last points.
   */
  readonly reserve: (
    most: number,
  ) => { readonly settle: (cost: number) => void } | { readonly refusal: SandboxRefusal };
  /** Sets the balance. Requests without points get status 401 again. */
  readonly setPoints: (points: number) => void;
  /** Sets the balance to 0. Requests get this status from now on. */
  readonly exhaust: (status: 401 | 402 | 403) => void;
  readonly revoke: () => void;
}

export function accountOf(token: string, points: number): Account {
  let left = points;
  let reserved = 0;
  let revoked = false;
  let status: 401 | 402 | 403 = 401;
  return {
    left: () => left,
    isRevoked: () => revoked,
    refuses: (given) => (given === token && !revoked ? undefined : invalidToken),
    reserve: (most) => {
      if (most > left - reserved) return { refusal: outOfPoints(status, most, Math.max(0, left - reserved)) };
      reserved += most;
      return {
        settle: (cost) => {
          reserved -= most;
          // The balance may have been emptied in the meantime; it is never negative.
          left = Math.max(0, left - cost);
        },
      };
    },
    setPoints: (given) => {
      left = given;
      status = 401;
    },
    exhaust: (given) => {
      left = 0;
      status = given;
    },
    revoke: () => {
      revoked = true;
    },
  };
}
