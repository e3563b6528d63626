/** A signal that asked the command to end: the reason with which the command's AbortSignal aborts. */
import { SIGNAL_EXIT } from './exit-codes.ts';

export type AwaitedSignal = keyof typeof SIGNAL_EXIT;

export class Interruption extends Error {
  readonly exitCode: number;

  constructor(signal: AwaitedSignal) {
    super(`${signal}: ending in order; the same again ends at once`);
    this.name = 'Interruption';
    this.exitCode = SIGNAL_EXIT[signal];
  }
}
