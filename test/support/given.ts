/** Values as a source gives them, one at a time. */
export async function* given<T>(values: Iterable<T>): AsyncGenerator<T, undefined> {
  yield* values;
  return undefined;
}
