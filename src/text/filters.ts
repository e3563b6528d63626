/** The filters and the input of a request as text for people. */

/** False for a filter without a value. */
const hasValue = (value: unknown): boolean =>
  value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The filters as JSON, without empty ones: a checked body contains every default. */
export const filtersText = (filters: unknown): string =>
  JSON.stringify(Object.fromEntries(Object.entries(filters ?? {}).filter(([, value]) => hasValue(value))));

/** The values of an input without their names, as in the view `sync_inputs`; a URN as type:value. */
export const inputText = (input: Readonly<Record<string, unknown>>): string =>
  Object.keys(input)
    .toSorted()
    .map((name) => valueText(input[name]))
    .join(', ');

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  const { type, value: named } = (value ?? {}) as { readonly type?: unknown; readonly value?: unknown };
  return typeof type === 'string' && typeof named === 'string' ? `${type}:${named}` : JSON.stringify(value);
}
