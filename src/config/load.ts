/** Loads a config: reads the file, fills in its variables, checks it, and reports all problems together. */
import { dirname, resolve } from 'node:path';
import type { Price } from '../service/endpoint.ts';
import { withoutTrailing } from '../service/trailing.ts';
import { ALERT_KINDS, DEFAULT_FORECAST_MS } from './alerts.ts';
import { check } from './check.ts';
import type { AlertSettings, Budget, Config, SyncDefinition } from './definition.ts';
import { insteadOf } from './document/nearest.ts';
import { orderNames } from './order.ts';
import { warehousePlace } from './values/paths.ts';
import { ConfigError, type Problem, problemAt, type ReportProblem } from './document/problem.ts';
import { readSource } from './read-source.ts';
import { type Env, resolveTree } from './resolve.ts';
import { Secret } from './values/secret.ts';
import { fileSchema } from './settings.ts';
import { type SourceFile, WHOLE_FILE } from './document/source.ts';
import { syncOf } from './sync.ts';
import { entryOf, type MapTree, type Tree } from './document/tree.ts';
import { withDefaults } from './defaults.ts';
import { treeOfYaml } from './document/yaml.ts';

type Settings = ReturnType<typeof fileSchema.parse>;

/** Settings that may be unset, because only some commands use them. */
const MAY_BE_ABSENT: readonly string[] = ['service.token', 'alerts.webhook'];

/**
 * The config in a file. Throws a ConfigError with the position of each problem if the file is not valid.
 * Relative paths in the config are relative to the folder of `path`, even if the file is a symbolic link. Paths in
 * `VAR_FILE` variables are relative to the working directory.
 */
export const loadConfig = async (path: string, env: Env): Promise<Config> => parseConfig(await readSource(path), env);

/** The config in a source, as `loadConfig` reads it. */
export async function parseConfig(source: SourceFile, env: Env): Promise<Config> {
  const problems: Problem[] = [];
  const report: ReportProblem = (span, message) => {
    problems.push(problemAt(source, span, message));
  };
  const written = treeOfYaml(source, report);
  if (!written) throw new ConfigError(problems);
  const tree = await resolveTree(withDefaults(written), env, source, report, (keys) =>
    MAY_BE_ABSENT.includes(keys.join('.')),
  );
  const config = configOf(tree, source, report);
  if (!config || problems.length > 0) throw new ConfigError(problems);
  return config;
}

function configOf(tree: Tree, source: SourceFile, report: ReportProblem): Config | undefined {
  if (tree.kind !== 'map') {
    report(WHOLE_FILE, 'a config is a mapping with the keys service, warehouse and syncs');
    return undefined;
  }
  const checked = check(fileSchema, tree, report, WHOLE_FILE);
  const syncs = syncsOf(tree, source, report, checked?.value);
  if (checked) refuseSecretWords(tree, checked.value, report);
  return (
    checked && {
      file: resolve(source.file),
      ...settingsOf(checked.value, dirname(resolve(source.file))),
      syncs,
      warnings: writtenSecrets(tree, source),
    }
  );
}

function settingsOf(
  { service, warehouse, budget = {}, prices = {}, alerts }: Settings,
  folder: string,
): Omit<Config, 'file' | 'syncs' | 'warnings'> {
  const token = service.token ?? '';
  const alertSettings = alerts && alertsOf(alerts);
  const { url, relative } = warehousePlace(warehouse.url, folder);
  return {
    service: {
      url: withoutTrailing(service.url, '/'),
      token: token === '' ? undefined : new Secret(token),
      inFlight: service.in_flight,
      requestsPerSecond: service.requests_per_second,
      retries: service.retries,
    },
    warehouse: { url: new Secret(url), schema: warehouse.schema, ...(relative !== undefined && { relative }) },
    budget: budgetOf(budget),
    ...(alertSettings && { alerts: alertSettings }),
    prices: Object.fromEntries(
      Object.entries(prices).flatMap(([name, price]) => (price === undefined ? [] : [[name, priceOf(price)]])),
    ),
  };
}

const budgetOf = ({
  per_run: perRun,
  per_day: perDay,
  keep,
  unknown_balance: unknownBalance,
}: NonNullable<Settings['budget']>): Budget => ({
  ...(perRun !== undefined && { perRun }),
  ...(unknownBalance !== undefined && { unknownBalance }),
  ...(perDay !== undefined && { perDay }),
  ...(keep !== undefined && { keep }),
});

/** The receivers of alerts; undefined if there are none, for example if the webhook's variable is unset. */
function alertsOf({
  webhook,
  command,
  on,
  quarantine,
  forecast,
}: NonNullable<Settings['alerts']>): AlertSettings | undefined {
  const address = webhook ?? '';
  if (address === '' && !command) return undefined;
  return {
    webhook: address === '' ? undefined : new Secret(address),
    command,
    on: on ?? ALERT_KINDS,
    quarantine,
    forecastMs: forecast ?? DEFAULT_FORECAST_MS,
  };
}

/** Reports secrets in the alert command: every user of a machine can read the arguments of its processes. */
function refuseSecretWords(tree: MapTree, { alerts, service }: Settings, report: ReportProblem): void {
  const secrets = [service.token, alerts?.webhook].filter((it) => it != null && it !== '') as string[];
  const at = entryOf(entryOf(tree, 'alerts')?.value, 'command')?.value;
  for (const [position, word] of (alerts?.command ?? []).entries()) {
    const item = at?.kind === 'list' ? at.items[position] : undefined;
    if (item && secrets.some((it) => word.includes(it)))
      report(
        item.span,
        'a word of the command contains a secret, which other users of the machine could read; let the program read the secret itself',
      );
  }
}

/** Warnings about secrets that the file contains, without the secrets. */
function writtenSecrets(tree: MapTree, source: SourceFile): string[] {
  const token = entryOf(entryOf(tree, 'service')?.value, 'token');
  if (token?.value.kind !== 'scalar' || token.value.text === '' || token.value.variables.length > 0) return [];
  const { file, line, column } = problemAt(source, token.keySpan, '');
  return [
    `${file}:${line}:${column}: service.token is written in the file, so backups and version control keep it; write \${SLUICE_SERVICE_TOKEN} and set the variable`,
  ];
}

function priceOf(price: number | { readonly points: number; readonly per?: number | undefined }): Price {
  if (typeof price === 'number') return { points: price };
  return price.per === undefined ? { points: price.points } : { points: price.points, per: price.per };
}

function syncsOf(
  tree: MapTree,
  source: SourceFile,
  report: ReportProblem,
  settings: Settings | undefined,
): SyncDefinition[] {
  const at = entryOf(tree, 'syncs');
  if (at?.value.kind !== 'map') return [];
  if (at.value.entries.length === 0) report(at.keySpan, 'syncs is empty; name at least one sync and its endpoint');
  const defaults = {
    acceptRejects: settings?.accept?.rejects ?? 0.01,
    isAcceptSet: settings?.accept?.rejects !== undefined,
    inDoubt: settings?.in_doubt ?? 'reconcile',
  } as const;
  const syncs = at.value.entries.flatMap((entry) => syncOf(entry, { source, report, defaults }) ?? []);
  checkOrder(at.value, syncs, report);
  return syncs;
}

function checkOrder(tree: MapTree, syncs: readonly SyncDefinition[], report: ReportProblem): void {
  const names = tree.entries.map(({ key }) => key);
  for (const { name, after } of syncs) {
    const at = entryOf(entryOf(tree, name)?.value, 'after')?.value;
    for (const [position, parent] of after.entries()) {
      const item = at?.kind === 'list' ? at.items[position] : undefined;
      if (item && !names.includes(parent))
        report(
          item.span,
          `after names ${JSON.stringify(parent)}, which is not a sync of this file${insteadOf(parent, names)}`,
        );
    }
  }
  const ordered = orderNames(new Map(syncs.map(({ name, after }) => [name, after])));
  if (!('cycle' in ordered)) return;
  const first = entryOf(entryOf(tree, ordered.cycle[0] ?? '')?.value, 'after');
  if (first) report(first.keySpan, `after forms a cycle: ${ordered.cycle.join(' after ')}; remove one of these`);
}
