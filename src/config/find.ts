/** Finds the config file of a command. */

/**
 * The path from `--config`, else from `SLUICE_CONFIG`, else `sluice.yaml` if it exists, else the shipped quickstart.
 */
export function configPath(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string {
  const named = env['SLUICE_CONFIG'] ?? '';
  if (flag !== undefined) return flag;
  if (named !== '') return named;
  return exists('sluice.yaml') ? 'sluice.yaml' : 'configs/quickstart.yaml';
}
