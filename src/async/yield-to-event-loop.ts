/** Lets other work of the process proceed. */
import { setImmediate } from 'node:timers/promises';

/** Resolves after the events that are due now, so that bytes are sent and answers are read in between. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();
