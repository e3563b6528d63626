/** The course of a run: whether it goes on, and what stopped it. */
import { EXIT, SluiceError } from '../../errors.ts';
import { toUserError } from '../../warehouse/connect/retry-transient.ts';

/** Why nothing more is sent in this run. */
export interface RunStop {
  readonly exit: number;
  readonly because: string;
  readonly next: string | null;
  /** Nothing is to be sent for any other sync either: the token is refused, the account empty, or no answer could be stored. */
  readonly forAll: boolean;
}

export interface StopController {
  /** Fires when nothing more is to be sent. */
  readonly signal: AbortSignal;
  /** Says that nothing more is to be sent; why may follow. */
  readonly stopSending: () => void;
  /** Says too that the run has failed, so that nothing is worth a wait. */
  readonly failFast: () => void;
  /** Stops the run for this reason, unless it was stopped for another. */
  readonly stopWith: (reason: RunStop) => void;
  /** Stops the run for an error. */
  readonly fail: (error: unknown) => void;
  /** Says why it was broken off: each answer that could not be stored tells of those before it too. */
  readonly failStore: (told: unknown) => void;
  readonly hasFailed: () => boolean;
  /** What stopped it; throws what was a fault of this program. */
  readonly result: () => RunStop | undefined;
}

/** A run that goes on until the signal fires or something stops it. */
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
      stopWith(reason ?? { exit: EXIT.bug, because: 'a fault of this program', next: null, forAll: false });
    },
    failStore: (told) => {
      const reason = asStop(told);
      // A refusal by the service says more still.
      if (reason && (stop === undefined || stop.exit === EXIT.transient)) stop = { ...reason, forAll: true };
    },
    hasFailed: () => hasFailed,
    result: () => {
      if (fault) throw fault;
      return stop;
    },
  };
}

/** What stops a run without being a fault of this program. */
function asStop(thrown: unknown): RunStop | undefined {
  const error = toUserError(thrown);
  return error instanceof SluiceError
    ? { exit: error.exitCode, because: error.message, next: error.next ?? null, forAll: false }
    : undefined;
}
