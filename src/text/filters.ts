/** The filters of a question, as people read them. */

/** False of a filter that is left open. */
const says = (value: unknown): boolean =>
  value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The filters as JSON, without those that are left open: a body that is checked holds every default. */
export const filtersText = (filters: unknown): string =>
  JSON.stringify(Object.fromEntries(Object.entries(filters ?? {}).filter(([, value]) => says(value))));
