/** Has what comes next made while what was made is worked on. */

/** The same in the same order, where each next one is asked for when the one before is given out. */
export async function* readAhead<T>(source: AsyncGenerator<T, undefined>): AsyncGenerator<T, undefined> {
  let next = source.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done === true) return undefined;
      next = source.next();
      // Whoever comes back for it meets its error; until then nobody waits for it.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await source.return(undefined);
  }
}
