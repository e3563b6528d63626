/** Which config file a command works with. */

/** The path: from `--config`, else `SLUICE_CONFIG`, else `sluice.yaml` if there is one, else the shipped quickstart. */
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
