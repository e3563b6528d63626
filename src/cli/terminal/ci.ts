/** Detects continuous integration, where people read the output but no person answers questions. */

/** True if `CI` is set and not `false`: every CI system sets it. */
export const isCi = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env['CI'] ?? '') !== '' && env['CI'] !== 'false';
