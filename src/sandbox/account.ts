/** The token and its points. */
import { invalidToken, outOfPoints, type Refusal } from './refusal.ts';

export interface Account {
  /** Points that are not spent, those set aside for requests under way included. */
  readonly left: () => number;
  /** Why a token is refused, or undefined. */
  readonly refuses: (token: string | undefined) => Refusal | undefined;
  readonly isRevoked: () => boolean;
  /**
   * Sets the most that a request can cost aside, and gives what settles it at its true cost; or says why it can't.
   * Two requests that race for the last points can't both have them.
   */
  readonly reserve: (most: number) => { readonly settle: (cost: number) => void } | { readonly refusal: Refusal };
  /** Fills the balance; out of points is told by 401 again. */
  readonly setPoints: (points: number) => void;
  /** Empties the balance, told by this status from now on. */
  readonly exhaust: (status: 401 | 402 | 403) => void;
  readonly revoke: () => void;
}

export function accountOf(token: string, points: number): Account {
  let left = points;
  let aside = 0;
  let revoked = false;
  let status: 401 | 402 | 403 = 401;
  return {
    left: () => left,
    isRevoked: () => revoked,
    refuses: (given) => (given === token && !revoked ? undefined : invalidToken),
    reserve: (most) => {
      if (most > left - aside) return { refusal: outOfPoints(status, most, Math.max(0, left - aside)) };
      aside += most;
      return {
        settle: (cost) => {
          aside -= most;
          // A balance that was emptied meanwhile owes nothing.
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
