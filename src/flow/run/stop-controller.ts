/** Controls whether a run continues, and records what stopped it. */
import { SluiceError, type StopReason, stopReasonOf } from '../../errors.ts';
import { toUserError } from '../../warehouse/connect/retry-transient.ts';

/** Why nothing more is sent in this run. */
export interface RunStop {
  readonly reason: StopReason;
  readonly because: string;
  readonly next: string | null;
  /**
   * No other sync may send anything either: the token is refused, the account is empty, or an answer could not be
   * stored.
   */
  readonly forAll: boolean;
}

export interface StopController {
  /** Fires when nothing more may be sent. */
  readonly signal: AbortSignal;
  /** Stops sending; the reason may follow. */
  readonly stopSending: () => void;
  /** Stops sending and marks the run as failed, so that nothing waits or retries. */
  readonly failFast: () => void;
  /** Stops the run for this reason, unless it was already stopped. */
  readonly stopWith: (reason: RunStop) => void;
  /** Stops the run because of an error. */
  readonly fail: (error: unknown) => void;
  /** Records why an answer could not be stored; the message of the last failed answer covers the earlier ones. */
  readonly failStore: (storeError: unknown) => void;
  readonly hasFailed: () => boolean;
  /** Returns what stopped the run; throws if the cause was a bug. */
  readonly result: () => RunStop | undefined;
}

/** Creates a controller; the run continues until the signal fires or something stops it. */
export function openStopController(signal: AbortSignal): StopController {
  const halted = new AbortController();
  let stop: RunStop | undefined;
  let fault: Error | undefined;
  let hasFailed = false;
  const stopWith = (reason: RunStop): void => {
    stop ??= reason;
    halted.abort();
  };
  return {
    signal: AbortSignal.any([signal, halted.signal]),
    stopSending: () => halted.abort(),
    failFast: () => {
      hasFailed = true;
      halted.abort();
    },
    stopWith,
    fail: (error) => {
      hasFailed = true;
      const reason = asStop(error);
      if (!reason) fault ??= error instanceof Error ? error : new Error(String(error));
      stopWith(reason ?? { reason: 'bug', because: 'a bug of this program', next: null, forAll: false });
    },
    failStore: (storeError) => {
      const reason = asStop(storeError);
      // A refusal by the service is the more useful reason.
      if (reason && (stop === undefined || stop.reason === 'unavailable')) stop = { ...reason, forAll: true };
    },
    hasFailed: () => hasFailed,
    result: () => {
      if (fault) throw fault;
      return stop;
    },
  };
}

/** Returns the reason of an expected error; undefined for a bug. */
function asStop(thrown: unknown): RunStop | undefined {
  const error = toUserError(thrown);
  return error instanceof SluiceError
    ? { reason: stopReasonOf(error.exitCode), because: error.message, next: error.next ?? null, forAll: false }
    : undefined;
}
