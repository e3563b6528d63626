/** Waits that a signal may end. */

/** The result of the work; undefined if the signal aborted it. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}

/** Waits for the promise or the signal, whichever is first. The promise must not reject. */
export async function orSignal(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const fired = Promise.withResolvers<void>();
  const fire = (): void => fired.resolve();
  signal.addEventListener('abort', fire, { once: true });
  await Promise.race([promise, fired.promise]);
  signal.removeEventListener('abort', fire);
}
