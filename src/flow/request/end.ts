/** How requests end. */
import type { RunStop } from '../run/stop-controller.ts';
import type { LimitReached } from './admission.ts';

/** How a request ended for this run. */
export type End =
  | { readonly as: 'stored'; readonly answerId: string }
  | { readonly as: 'failed'; readonly because: string; readonly next: string; readonly wholeEndpoint: boolean }
  | { readonly as: 'in_doubt'; readonly because: string }
  /** Nothing more may be sent; the request stays planned. */
  | ({ readonly as: 'stopped' } & RunStop)
  | { readonly as: 'aborted' }
  /** Another process settled the request in the meantime, or another run bought its answer or is buying it. */
  | { readonly as: 'elsewhere' };

/** Points to print: calls that the log has not confirmed count with a mean price, which is a fraction. */
const printed = (points: number): number => Math.round(points * 100) / 100;

/** The end by a limit that does not allow the next call. */
export const limitReached = ({ needed, ...limit }: LimitReached): End => ({
  as: 'stopped',
  reason: 'points-reached',
  because: `${limit.what} is ${limit.points === 1 ? '1 point' : `${limit.points} points`}, ${printed(limit.spent)} ${limit.spent === 1 ? 'is' : 'are'} spent or reserved, and the next request can cost ${needed}`,
  next: 'Raise the limit or wait until it allows more; the rest stays planned.',
  forAll: false,
});

/** The end by a service that keeps failing. */
export const GIVEN_UP: End = {
  as: 'stopped',
  reason: 'unavailable',
  because: 'the service keeps failing, also after pauses',
  next: 'Run the sync again later; it continues where it stopped.',
  forAll: false,
};
