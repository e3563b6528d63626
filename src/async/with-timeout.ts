/** A time limit for waiting. */

/** The result of the work; undefined if it takes longer than `ms`. The work itself is not cancelled. */
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): Promise<T | undefined> {
  const ended = new AbortController();
  const timeout = sleep(ms, ended.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    ended.abort();
  }
}
