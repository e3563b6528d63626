/** The signal that ends a command, as the abort reason of the command's AbortSignal. */
import { SIGNAL_EXIT } from './exit-codes.ts';

export type AwaitedSignal = keyof typeof SIGNAL_EXIT;

export class Interruption extends Error {
  readonly exitCode: number;

  constructor(signal: AwaitedSignal) {
    super(`${signal}: ending in order; a second signal ends the process immediately`);
    this.name = 'Interruption';
    this.exitCode = SIGNAL_EXIT[signal];
  }
}

/** The signal that ended the command, by its AbortSignal; undefined if none did. */
export function interruptionOf(signal: AbortSignal): Interruption | undefined {
  const reason: unknown = signal.reason;
  return reason instanceof Interruption ? reason : undefined;
}
