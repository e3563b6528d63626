/** Time, randomness and identifiers: what the flow needs from outside, passed as one object. */
import type { RetryEffects } from '../warehouse/connect/retry-transient.ts';

export interface Effects extends RetryEffects {
  /** The database's clock. All stored times, and times compared with them, use it. */
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
}
