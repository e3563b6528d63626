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
