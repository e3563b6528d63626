/** Whether a machine of continuous integration runs the program: there is output that people read, and nobody to answer. */

/** True where `CI` is set and not `false`, as every such system sets it. */
export const isCi = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env['CI'] ?? '') !== '' && env['CI'] !== 'false';
