/** Loads a config: reads the file, fills in its variables, checks it, and reports all problems together. */
import { dirname, resolve } from 'node:path';
import type { Price } from '../service/endpoint.ts';
import { withoutTrailing } from '../service/trailing.ts';
import { ALERT_KINDS, DEFAULT_FORECAST_MS } from './alerts.ts';
import { check } from './check.ts';
import type { AlertSettings, Budget, Config, SyncDefinition, TagBudget } from './definition.ts';
import { insteadOf } from './document/nearest.ts';
import type { OptionalProblem } from './optional.ts';
import { orderNames } from './order.ts';
import { warehousePlace } from './values/paths.ts';
import { ConfigError, type Problem, type ReportProblem } from './document/problem.ts';
import { type ConfigFile, type ConfigFiles, onDisk, readConfigFiles } from './files.ts';
import type { Env } from './resolve.ts';
import { Secret } from './values/secret.ts';
import { fileSchema, includedSchema } from './settings.ts';
import { locationOf, type SourceFile, WHOLE_FILE } from './document/source.ts';
import { syncOf } from './sync.ts';
import { defaultsOf } from './sync-defaults.ts';
import { entryOf, type MapEntry, type MapTree } from './document/tree.ts';
import { warningsOf } from './warnings.ts';

type Settings = ReturnType<typeof fileSchema.parse>;

/**
 * The config in a file and in the files that it includes. Throws a ConfigError with the position of each problem if a
 * file is not valid; if only variables of optional settings have problems, the error is a part of the config. Relative
 * paths are relative to the folder of the file that contains them, even if that is a symbolic link. Paths in `VAR_FILE`
 * variables are relative to the working directory.
 */
export async function loadConfig(path: string, env: Env, reading: ConfigFiles = onDisk): Promise<Config> {
  const problems: Problem[] = [];
  const optional: OptionalProblem[] = [];
  const files = await readConfigFiles(path, env, { problems, optional }, reading);
  const config = configOf(files, problems);
  if (!config || problems.length > 0) throw new ConfigError(inOrderOf(files, [...problems, ...optional]));
  if (optional.length === 0) return config;
  const settings = optional.map(({ setting }) => setting);
  return { ...config, unusable: { settings, error: new ConfigError(optional) } };
}

/** The problems in the order of the files; those of files that could not be parsed come last. */
function inOrderOf(files: readonly ConfigFile[], problems: readonly Problem[]): Problem[] {
  const places = new Map(files.map(({ source }, place) => [source.file, place]));
  const placeOf = ({ file }: Problem): number => places.get(file) ?? files.length;
  return problems.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function configOf(files: readonly ConfigFile[], problems: readonly Problem[]): Config | undefined {
  const [main, ...included] = files;
  if (!main) return undefined;
  const { source, report, tree } = main;
  const checked = check(fileSchema, tree, report, WHOLE_FILE);
  for (const file of included) check(includedSchema, file.tree, file.report, WHOLE_FILE);
  const syncs = syncsOf(files, checked?.value);
  if (syncs.length === 0) reportNoSyncs(main, problems);
  if (checked) refuseSecretWords(tree, checked.value, report);
  if (checked && problems.length === 0) refuseUnknownTags(tree, syncs, report);
  return (
    checked && {
      file: resolve(source.file),
      ...settingsOf(checked.value, dirname(resolve(source.file))),
      syncs,
      warnings: warningsOf(files, syncs),
    }
  );
}

function reportNoSyncs({ tree, report }: ConfigFile, problems: readonly Problem[]): void {
  const [at, include] = [entryOf(tree, 'syncs'), entryOf(tree, 'include')];
  if (at?.value.kind === 'map' && at.value.entries.length === 0)
    report(at.keySpan, 'syncs is empty; name at least one sync and its endpoint');
  else if (include && problems.length === 0) report(include.keySpan, 'the included files contain no sync');
  else if (!at && problems.length === 0) report(WHOLE_FILE, 'missing: syncs (allowed is a mapping)');
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
  per_month: perMonth,
  tags,
  keep,
  unknown_balance: unknownBalance,
}: NonNullable<Settings['budget']>): Budget => ({
  ...(perRun !== undefined && { perRun }),
  ...(unknownBalance !== undefined && { unknownBalance }),
  ...(perDay !== undefined && { perDay }),
  ...(perMonth !== undefined && { perMonth }),
  ...(tags && { tags: tagBudgets(tags) }),
  ...(keep !== undefined && { keep }),
});

const tagBudgets = (tags: NonNullable<NonNullable<Settings['budget']>['tags']>): readonly TagBudget[] =>
  Object.entries(tags).flatMap(([tag, values]) =>
    Object.entries(values).map(([value, { per_day: perDay, per_month: perMonth }]) => ({
      tag,
      value,
      ...(perDay !== undefined && { perDay }),
      ...(perMonth !== undefined && { perMonth }),
    })),
  );

/** Reports limits of tags that no sync has: they would limit nothing. */
function refuseUnknownTags(tree: MapTree, syncs: readonly SyncDefinition[], report: ReportProblem): void {
  const written = entryOf(entryOf(tree, 'budget')?.value, 'tags')?.value;
  for (const tag of written?.kind === 'map' ? written.entries : []) {
    const values = syncs.flatMap(({ tags }) => tags[tag.key] ?? []);
    if (values.length === 0) {
      const names = [...new Set(syncs.flatMap(({ tags }) => Object.keys(tags)))];
      report(tag.keySpan, `no sync has the tag ${JSON.stringify(tag.key)}${insteadOf(tag.key, names)}`);
    } else
      for (const { key, keySpan } of tag.value.kind === 'map' ? tag.value.entries : [])
        if (!values.includes(key))
          report(
            keySpan,
            `no sync has the tag ${JSON.stringify(tag.key)} with the value ${JSON.stringify(key)}${insteadOf(key, [...new Set(values)])}`,
          );
  }
}

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

function priceOf(price: number | { readonly points: number; readonly per?: number | undefined }): Price {
  if (typeof price === 'number') return { points: price };
  return price.per === undefined ? { points: price.points } : { points: price.points, per: price.per };
}

/** The syncs of all files, which form one set. */
function syncsOf([main, ...included]: readonly ConfigFile[], settings: Settings | undefined): SyncDefinition[] {
  if (!main) return [];
  const defaults = settings ? defaultsOf(main.tree, settings, main) : {};
  const inFlight = settings?.service.in_flight;
  const named = new Map<string, NamedSync>();
  const syncs: SyncDefinition[] = [];
  for (const { source, report, tree } of [main, ...included]) {
    const at = entryOf(tree, 'syncs')?.value;
    for (const entry of at?.kind === 'map' ? at.entries : []) {
      const other = named.get(entry.key);
      if (other) {
        const place = locationOf(other.source, other.entry.keySpan.start);
        report(entry.keySpan, `${JSON.stringify(entry.key)} is already a sync, at ${place}; rename one of them`);
        continue;
      }
      named.set(entry.key, { source, report, entry });
      const sync = syncOf(entry, { source, report, defaults, inFlight });
      if (sync) syncs.push(sync);
    }
  }
  checkOrder(named, syncs);
  return syncs;
}

/** A sync as written. */
interface NamedSync {
  readonly source: SourceFile;
  readonly report: ReportProblem;
  readonly entry: MapEntry;
}

function checkOrder(named: ReadonlyMap<string, NamedSync>, syncs: readonly SyncDefinition[]): void {
  const names = [...named.keys()];
  const afterOf = (name: string): MapEntry | undefined => entryOf(named.get(name)?.entry.value, 'after');
  for (const { name, after } of syncs) {
    const at = afterOf(name)?.value;
    for (const [position, parent] of after.entries()) {
      const item = at?.kind === 'list' ? at.items[position] : undefined;
      if (item && !named.has(parent))
        named
          .get(name)
          ?.report(
            item.span,
            `after names ${JSON.stringify(parent)}, which is not a sync of this config${insteadOf(parent, names)}`,
          );
    }
  }
  const ordered = orderNames(new Map(syncs.map(({ name, after }) => [name, after])));
  if (!('cycle' in ordered)) return;
  const first = ordered.cycle[0] ?? '';
  const at = afterOf(first);
  if (at)
    named.get(first)?.report(at.keySpan, `after forms a cycle: ${ordered.cycle.join(' after ')}; remove one of these`);
}
