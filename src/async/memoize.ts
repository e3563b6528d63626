/** Results that are computed once. */

/** A function that computes its result once for each object and caches it as long as the object is in use. */
export function memoizeByObject<Key extends object, T>(make: (key: Key) => T): (key: Key) => T {
  const made = new WeakMap<Key, T>();
  return (key) => {
    const result = made.get(key) ?? make(key);
    made.set(key, result);
    return result;
  };
}

/** A function that does its work once, at its first call. Later calls return the same result. */
export function memoize<T>(make: () => T): () => T {
  let made: { readonly result: T } | undefined;
  return () => (made ??= { result: make() }).result;
}
