/** The filters of a request as text for people. */

/** False for a filter without a value. */
const hasValue = (value: unknown): boolean =>
  value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The filters as JSON, without empty ones: a checked body contains every default. */
export const filtersText = (filters: unknown): string =>
  JSON.stringify(Object.fromEntries(Object.entries(filters ?? {}).filter(([, value]) => hasValue(value))));
