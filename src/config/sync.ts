/** Checks one sync of a config against its endpoint's contract and fills in defaults. */
import { catalog, endpointNamed } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { canonicalJson, digestOf } from '../service/canonical-json.ts';
import type { RequestBody } from '../service/request-body.ts';
import { canonicalFields } from '../service/request-key.ts';
import { check, type Checked, foundIn } from './check.ts';
import { checksOf } from './checks.ts';
import { scheduleOf } from './schedule.ts';
import type { ForEach, SyncDefinition, Window } from './definition.ts';
import { inputFieldsOf, forEachOf } from './for-each.ts';
import { insteadOf } from './document/nearest.ts';
import type { ReportProblem } from './document/problem.ts';
import { DAY_MS } from '../day.ts';
import { maxAgeFields } from './values/max-age.ts';
import { raiseCountToOf } from './values/raise-count.ts';
import { splitByOf } from './request-fields.ts';
import { requestOf, withoutDefaults } from './sync-request.ts';
import { syncSchema } from './settings.ts';
import { refuseMoreInFlight, type SyncDefaults, withoutNulls } from './sync-defaults.ts';
import type { SourceFile } from './document/source.ts';
import { type MapEntry, entryOf, type Tree } from './document/tree.ts';
import { logStartOf, windowOf } from './window.ts';

interface Context {
  readonly source: SourceFile;
  readonly report: ReportProblem;
  readonly defaults: SyncDefaults;
  /** The limit of concurrent requests of all syncs; undefined if it is unknown. */
  readonly inFlight: number | undefined;
}

type Settings = ReturnType<typeof syncSchema.parse>;

// A name becomes part of keys and file names, and Postgres truncates names to 63 bytes.
/** The allowed names of syncs, as a regular expression. */
export const NAME_PATTERN = '^[a-z][a-z0-9_]{0,62}$';
const NAME = new RegExp(NAME_PATTERN);

/** Default lookback by kind of paging: filings arrive late, and rows of the log change after they start. */
const LOOKBACK_MS = { window: 7 * DAY_MS, cursor: DAY_MS / 24, count: 0, once: 0 } as const;

/** The sync at an entry of `syncs`, or undefined if its endpoint is unknown. Problems go to `report`. */
export function syncOf(entry: MapEntry, context: Context): SyncDefinition | undefined {
  const { report } = context;
  const { key: name, keySpan, value: written } = entry;
  const { tree, defaults } = withoutNulls(written, context.defaults);
  if (!NAME.test(name)) {
    report(
      keySpan,
      `${JSON.stringify(name)} can't be the name of a sync; allowed are at most 63 lower-case letters, digits and _, beginning with a letter`,
    );
  }
  const checked = check(syncSchema, tree, report, keySpan);
  const endpoint = endpointAt(tree, report);
  return endpoint && define(name, endpoint, { ...entry, value: tree }, checked, { ...context, defaults });
}

function endpointAt(tree: Tree, report: ReportProblem): Endpoint | undefined {
  const named = entryOf(tree, 'endpoint')?.value;
  if (named?.kind !== 'scalar' || named.hasProblem) return undefined;
  const found = endpointNamed(named.text);
  if (!found) {
    const names = catalog.map((it) => it.name);
    // A path of the service, such as /api/a/b, means the endpoint a.b.
    const name = named.text.replace(/^\/(?:api\/)?/, '').replaceAll('/', '.');
    report(named.span, `endpoint is ${foundIn(named)}, which the service doesn't have${insteadOf(name, names)}`);
  }
  return found;
}

function define(
  name: string,
  endpoint: Endpoint,
  { value: tree, keySpan }: MapEntry,
  checked: Checked<Settings> | undefined,
  context: Context,
): SyncDefinition {
  const { report } = context;
  const settings: Partial<Settings> = checked?.value ?? {};
  const windowAt = entryOf(tree, 'window');
  const splitAt = entryOf(tree, 'split_by');
  const forEachTree = entryOf(tree, 'for_each')?.value;
  const { forEach, inputFields } = inputsOf(forEachTree, endpoint, context);
  const window = windowAt && windowOf(endpoint, windowAt, report);
  const request = requestOf({ endpoint, tree, keySpan, inputFields, report });
  const from = logStartOf(endpoint, tree, settings.from, report);
  const splitBy = splitAt ? splitByOf(endpoint, splitAt.value, splitAt.keySpan, report) : {};
  const raiseCountTo = raiseCountToOf(endpoint, tree, settings.raise_count_to, request, report);
  const lookbackMs = window?.lookbackMs ?? settings.lookback ?? defaultLookbackMs(endpoint, windowAt);
  const days: Window | undefined = window && { from: window.from, to: window.to };
  const { timeout } = request;
  const filters = canonicalFields(endpoint, request);
  const requestSettings = {
    endpoint: endpoint.name,
    // The timeout is no part of the identity of a request, but another one must reach the requests that are left.
    request: withoutDefaults(endpoint, timeout === undefined ? filters : { ...filters, timeout }),
    forEach: writtenSources(forEachTree, forEach),
    window: days,
    splitBy: Object.entries(splitBy),
    raiseCountTo,
    lookbackMs,
    from,
  };
  const windowHashOf = (fields: RequestBody): string => {
    const { count: _, timeout: __, ...contents } = fields;
    return digestOf(canonicalJson({ endpoint: endpoint.name, filters: contents, splitBy: requestSettings.splitBy }));
  };
  return {
    name,
    endpoint,
    request,
    forEach,
    window: days,
    splitBy,
    raiseCountTo,
    after: settings.after ?? [],
    lookbackMs,
    from,
    ...inheritedOf(endpoint, tree, settings, context),
    checks: checksOf(settings.checks, tree, context) ?? context.defaults.checks,
    hash: digestOf(canonicalJson(requestSettings)),
    windowHash: windowHashOf(withoutDefaults(endpoint, filters)),
    formerWindowHash: windowHashOf(request),
  };
}

/** The inputs, and the request fields that they set; the fields are unknown if a problem was reported. */
function inputsOf(
  tree: Tree | undefined,
  endpoint: Endpoint,
  { source, report }: Context,
): { readonly forEach: ForEach | undefined; readonly inputFields: ReadonlySet<string> | undefined } {
  if (!tree) return { forEach: undefined, inputFields: inputFieldsOf([]) };
  let hasProblem = false;
  const reportInputs: ReportProblem = (span, message) => {
    hasProblem = true;
    report(span, message);
  };
  const forEach = forEachOf(tree, { endpoint, source, report: reportInputs });
  return { forEach, inputFields: hasProblem ? undefined : inputFieldsOf(forEach ?? []) };
}

/** A window endpoint without a window requests no days, so no days are requested again. */
const defaultLookbackMs = ({ paging }: Endpoint, window: MapEntry | undefined): number =>
  paging.by === 'window' && !window ? 0 : LOOKBACK_MS[paging.by];

/** The settings that the sync may inherit from the defaults. */
function inheritedOf(
  { paging }: Endpoint,
  tree: Tree,
  { schedule, after = [], ...own }: Partial<Settings>,
  { report, defaults, inFlight }: Context,
) {
  refuseMoreInFlight(tree, own.in_flight, inFlight, report);
  const { accept, in_doubt: inDoubt = 'reconcile', in_flight: ownInFlight } = { ...defaults, ...own };
  // A sync with parents starts when they end.
  const usual = after.length > 0 ? undefined : defaults.schedule;
  return {
    ...agesOf(paging, tree, own.max_age ?? (paging.by === 'cursor' ? undefined : defaults.max_age), report),
    schedule: schedule === undefined ? usual : scheduleOf(schedule, tree, report),
    inDoubt,
    acceptRejects: accept?.rejects ?? DEFAULT_REJECTS,
    ...(accept && { acceptsUnreadable: true }),
    budgetPerRun: own.budget?.per_run ?? defaults.budget?.per_run,
    inFlight: ownInFlight,
    tags: { ...defaults.tags, ...own.tags },
  };
}

/**
 * The age limits of a sync. A page of the log that was read before is read again for the rows that were added since. The
 * days of a window are new each day, so there is no history to learn from: a learned age is reported, and that of the
 * defaults gives its least age.
 */
function agesOf(
  paging: Endpoint['paging'],
  tree: Tree,
  setting: Settings['max_age'],
  report: ReportProblem,
): Pick<SyncDefinition, 'maxAgeMs' | 'autoAge'> {
  const { maxAgeMs, autoAge } = maxAgeFields(setting);
  if (!autoAge) return { maxAgeMs };
  if (paging.by !== 'cursor' && !entryOf(tree, 'window')) return { maxAgeMs, autoAge };
  const own = entryOf(tree, 'max_age');
  if (own)
    report(
      own.value.span,
      "max_age can't be learned for a window or the request log; allowed is a duration such as 7d",
    );
  return { maxAgeMs: autoAge.leastMs };
}

const DEFAULT_REJECTS = 0.01;

/**
 * The sources as written. Their position in the file, the folder of the config and `max_age` do not affect requests.
 */
function writtenSources(tree: Tree | undefined, forEach: ForEach | undefined): unknown {
  return forEach?.map((it) => {
    if (it.from === 'list') return { from: it.from, rows: it.rows };
    const { where: _, ...source } = it;
    if (source.from === 'query') return source;
    const holder = source.field === undefined ? tree : entryOf(tree, source.field)?.value;
    const written = entryOf(holder, 'file')?.value;
    return { ...source, path: written?.kind === 'scalar' ? written.text : source.path };
  });
}
