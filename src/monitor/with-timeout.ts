/** Bounds how long something is waited for. */

/** What the work gives; undefined when that takes longer, and the work goes on by itself. */
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): Promise<T | undefined> {
  const ended = new AbortController();
  const patience = sleep(ms, ended.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, patience]);
  } finally {
    ended.abort();
  }
}
