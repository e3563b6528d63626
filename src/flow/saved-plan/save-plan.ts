/** Makes a saved plan from the quotes of syncs. */
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { dayOf } from '../../day.ts';
import { newestRunId } from '../../ledger/runs.ts';
import { SAVED_PLAN_VERSION, type SavedPlan, type SavedSync } from '../../plan/saved/saved-plan.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { hasRequests, type QuotedSync } from '../forecast/quote-syncs.ts';
import { planHash, type PlanOptions } from '../prepare/plan-hash.ts';
import { queriesOf } from '../queries/check-queries.ts';
import { withHost } from '../../text/database-address.ts';

/** Returns the plan of these quotes. A sync whose inputs may still change while the plan runs is left out. */
export async function makeSavedPlan(
  warehouse: Warehouse,
  config: Config,
  quoted: readonly QuotedSync[],
  options: PlanOptions,
  now: Date,
): Promise<SavedPlan> {
  const syncs: SavedSync[] = [];
  const leftOut: { sync: string; because: string }[] = [];
  for (const [at, it] of quoted.entries()) {
    const because = reasonToLeaveOut(it, quoted.slice(0, at));
    if (because === undefined) syncs.push(await savedSyncOf(warehouse, it, options, now));
    else leftOut.push({ sync: it.quote.sync, because });
  }
  return {
    savedPlan: SAVED_PLAN_VERSION,
    madeAt: now.toISOString(),
    refresh: options.refresh,
    from: options.from ?? null,
    to: options.to ?? null,
    limit: options.limit ?? null,
    service: digestOf(config.service.url),
    warehouse: digestOf(placeOf(config)),
    syncs,
    leftOut,
    most: syncs.reduce((sum, { most }) => sum + most, 0),
  };
}

/** Only `after` makes a parent, but the query of a sync may read what any earlier sync of the plan loads. */
function reasonToLeaveOut({ definition }: QuotedSync, earlier: readonly QuotedSync[]): string | undefined {
  if (queriesOf(definition).length === 0) return undefined;
  const loading = earlier.filter(({ quote }) => hasRequests(quote)).map(({ quote }) => quote.sync);
  return loading.length === 0
    ? undefined
    : `its query may read rows that ${loading.join(', ')} would load first, so its requests are not known yet`;
}

async function savedSyncOf(
  warehouse: Warehouse,
  { definition, quote, prices, requests }: QuotedSync,
  options: PlanOptions,
  now: Date,
): Promise<SavedSync> {
  const { model, empty, missing } = prices;
  return {
    sync: quote.sync,
    endpoint: quote.endpoint,
    definition: definitionDigest(definition, options),
    continues: quote.continues,
    lastRun: await newestRunId(operationsOf(warehouse), quote.sync),
    today: endsToday(definition, options) ? dayOf(now) : null,
    requests: requests.all.summary(),
    toSend: requests.toSend.summary(),
    prices: digestOf(canonicalJson([model, empty, missing])),
    low: quote.low,
    likely: quote.likely,
    high: quote.high,
    most: quote.most,
  };
}

/** True if the plan requests days up to the present, so that it has other requests on another day. */
const endsToday = ({ window, endpoint }: SyncDefinition, { to }: PlanOptions): boolean =>
  to === undefined && (window?.to === 'today' || endpoint.paging.by === 'cursor');

const definitionDigest = (definition: SyncDefinition, options: PlanOptions): string =>
  digestOf(
    canonicalJson([planHash(definition, options), definition.maxAgeMs, definition.autoAge ?? null, definition.inDoubt]),
  );

/** The location of the warehouse without a user or a password. */
function placeOf({ warehouse: { url, schema } }: Config): string {
  const parsed = URL.parse(withHost(url.reveal()));
  const named = ['host', 'port', 'dbname'].map((name) => parsed?.searchParams.get(name));
  return canonicalJson([parsed?.protocol, parsed?.host, parsed?.pathname, named, schema]);
}
