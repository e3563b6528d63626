/** Work that a signal may end. */

/** What the work gives; undefined when the signal ended it. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}
