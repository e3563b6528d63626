/** The values at a path of an answer, such as `[].author.urn.value`; a path is read here as users read it. */

/** Every value at the path, in the order of the answer. Absent values and nulls are left out. */
export function valuesAt(answer: unknown, path: string): unknown[] {
  const steps = path.split('.').flatMap((part) => part.split(/(?=\[\])/));
  return steps
    .reduce<unknown[]>((values, step) => values.flatMap((value) => stepInto(value, step)), [answer])
    .filter((value) => value !== undefined && value !== null);
}

function stepInto(value: unknown, step: string): unknown[] {
  if (step === '[]') return Array.isArray(value) ? value : [];
  return value !== null && typeof value === 'object' && Object.hasOwn(value, step)
    ? [(value as Readonly<Record<string, unknown>>)[step]]
    : [];
}
