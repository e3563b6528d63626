/** Doors in a test that open when it says so, and waits without a clock. */

export interface Door {
  readonly open: () => void;
  readonly opened: Promise<void>;
}

/** A door that is shut. */
export function door(): Door {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

/** Resolves when the condition holds, and lets other work run meanwhile; gives up after very many turns of the event loop. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 200_000; turn += 1) {
    if (await condition()) return;
    await new Promise(setImmediate);
  }
  throw new Error('waited in vain');
}
