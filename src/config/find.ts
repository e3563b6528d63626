/** Finds the config file of a command. */

/**
 * The path from `--config`, else from `SLUICE_CONFIG`, else `sluice.yaml`, else the shipped quickstart. If neither file
 * exists, it is `sluice.yaml`, because an error should name the file that a user would create.
 */
export function configPath(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string {
  const named = env['SLUICE_CONFIG'] ?? '';
  if (flag !== undefined) return flag;
  if (named !== '') return named;
  return !exists('sluice.yaml') && exists('configs/quickstart.yaml') ? 'configs/quickstart.yaml' : 'sluice.yaml';
}
