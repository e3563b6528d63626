/** Quotes syncs as a run would plan them now, without requests to the service. */
import { lastBalance, readBalance } from '../../control/budget/balance.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import { spentSince } from '../../control/budget/spending-counters.ts';
import { tokenDigest } from '../../control/token-digest.ts';
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { DAY_MS } from '../../day.ts';
import { pointsRunningAt, unverifiedPoints } from '../../ledger/log-costs.ts';
import type { UnverifiedPoints } from '../../ledger/summary.ts';
import { KeySet } from '../../plan/key-set.ts';
import { selectSyncs } from '../../plan/order.ts';
import type { Level, PriceBook } from '../../plan/pricing/price-book.ts';
import { type Quote, QuestionTotals, quoteOf, totalQuote } from '../../plan/pricing/quote.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { PlanOptions } from '../prepare/plan-hash.ts';
import { planSync } from '../prepare/plan-sync.ts';
import { checkQueries } from '../queries/check-queries.ts';
import { openPlan } from './open-plan.ts';
import { openForecast } from './pending.ts';
import { PlannedRequests } from './planned-requests.ts';

/** The result of a plan: quotes, the balance, and the prices behind the quotes. */
export interface Planned {
  readonly syncs: readonly SyncQuote[];
  readonly total: Quote;
  /** The balance now and after the plan; null if the warehouse does not know it. */
  readonly balance: PlannedBalance | null;
  /** Requests of earlier runs whose cost the request log has not confirmed. */
  readonly unverified: UnverifiedPoints;
  /** By endpoint, the cost of its calls in the request log, by the items requested and returned. */
  readonly prices: Readonly<Record<string, readonly Level[]>>;
}

/** The balance now and after the plan. */
interface PlannedBalance {
  /** Points left according to the request log, minus the requests that were sent since. */
  readonly points: number;
  /** When the log was read, by the clock of the warehouse. */
  readonly at: string;
  /** Points left after the plan, at its likely and at its maximum cost. */
  readonly leftLikely: number;
  readonly leftAtLeast: number;
}

/** The quote of one sync of a plan. */
export interface SyncQuote extends Quote {
  readonly sync: string;
  readonly endpoint: string;
  /** Requests that are listed as failing and not sent again. No other figure includes them. */
  readonly failing: number;
  /** Requests that are left out because they name a forgotten entity. No other figure includes them. */
  readonly forgotten: number;
  /**
   * Requests to send that earlier syncs of the plan send too. Their answers serve this sync, so a run sends them once, and
   * each quote includes them.
   */
  readonly shared: number;
  /** Syncs of the same plan that would first load rows for the queries of this one. */
  readonly waitsFor: readonly string[];
  /** The stopped run that would be continued; null if a new run would start. */
  readonly continues: string | null;
}

/** The plan of one sync. */
export interface QuotedSync {
  readonly definition: SyncDefinition;
  readonly quote: SyncQuote;
  readonly prices: PriceBook;
  readonly requests: PlannedRequests;
}

/**
 * Plans these syncs as a run would plan them now, parents first. Throws a UsageError for an unknown name, and for a query
 * or a file of inputs that fails.
 */
export async function quoteSyncs(
  warehouse: Warehouse,
  config: Config,
  names: readonly string[],
  options: PlanOptions,
  now: Date,
): Promise<readonly QuotedSync[]> {
  const definitions = selectSyncs(config.syncs, names);
  await checkQueries(warehouse, definitions);
  const syncs: QuotedSync[] = [];
  const sent = new KeySet();
  for (const definition of definitions) {
    // Only syncs of one endpoint can share requests.
    const mayShare = definitions.some((it) => it !== definition && it.endpoint.name === definition.endpoint.name);
    const quoted = await quoteSync(warehouse, config, { definition, sent: mayShare ? sent : undefined }, options, now);
    const waitsFor = parentsAmong(syncs, definition);
    syncs.push({ ...quoted, quote: { ...quoted.quote, waitsFor } });
  }
  return syncs;
}

async function quoteSync(
  warehouse: Warehouse,
  config: Config,
  { definition, sent }: { readonly definition: SyncDefinition; readonly sent: KeySet | undefined },
  options: PlanOptions,
  now: Date,
): Promise<QuotedSync> {
  const endpoint = definition.endpoint.name;
  const left = await openPlan(warehouse, definition, options, now);
  const { parts } = left ?? (await planSync(warehouse, definition, options, now));
  const prices = await readPrices(warehouse, config, definition);
  const ops = operationsOf(warehouse);
  const forecast = await openForecast(ops, definition, now);
  const totals = new QuestionTotals(options.limit);
  const planned = new PlannedRequests(definition, sent);
  let [requests, notSent, covered, forgotten] = [0, 0, 0, 0];
  for await (const part of parts(ops)) {
    requests += part.tasks.length;
    notSent += new Set([...part.givenUp, ...part.failing.keys()]).size;
    covered += 'covered' in part ? part.covered.length : 0;
    forgotten += 'forgotten' in part ? part.forgotten : 0;
    const pending = await forecast(part);
    pending.forEach((question) => totals.add(question));
    planned.add(part, pending);
  }
  const quoted = quoteOf(requests - notSent, totals, prices, endpoint === LOG_ENDPOINT, config.service);
  const quote = {
    sync: definition.name,
    endpoint,
    ...quoted,
    requests: quoted.requests + covered,
    fresh: quoted.fresh + covered,
    failing: notSent,
    forgotten,
    // Without a `max_age`, no answer of an earlier sync serves a request.
    shared: definition.maxAgeMs === undefined ? 0 : planned.shared,
    waitsFor: [],
    continues: left?.continues ?? null,
  };
  return { definition, quote, prices, requests: planned };
}

/**
 * The parents that have requests to send, or may have once their own parents have loaded rows, if the sync reads its inputs
 * from the warehouse.
 */
function parentsAmong(planned: readonly QuotedSync[], { after, forEach }: SyncDefinition): string[] {
  if (forEach?.some(({ from }) => from === 'query') !== true) return [];
  const mayLoad = (quote: SyncQuote): boolean => hasRequests(quote) || quote.waitsFor.length > 0;
  return planned.filter(({ quote }) => after.includes(quote.sync) && mayLoad(quote)).map(({ quote }) => quote.sync);
}

/** True if the plan of a sync has requests to send. */
export const hasRequests = ({ requests, fresh }: Quote): boolean => requests > fresh;

/** Adds up the quotes of a plan, and reads the balance that the warehouse knows. */
export async function summarizePlan(
  warehouse: Warehouse,
  { service }: Pick<Config, 'service'>,
  quoted: readonly QuotedSync[],
  now: Date,
): Promise<Planned> {
  const syncs = quoted.map(({ quote }) => quote);
  const total = totalQuote(syncs, service);
  const { balance, unverified } = await readBalanceNow(warehouse, tokenDigest(service), now);
  return {
    syncs,
    total,
    unverified,
    balance: balance && {
      ...balance,
      leftLikely: balance.points - total.likely,
      leftAtLeast: balance.points - total.most,
    },
    prices: Object.fromEntries(quoted.map(({ quote, prices }) => [quote.endpoint, prices.levels])),
  };
}

/** How far back the plan looks for requests that the log has not confirmed. */
const UNVERIFIED_MS = 30 * DAY_MS;

/** Returns the balance and the unverified points that the warehouse knows, without a request to the service. */
export async function readBalanceNow(warehouse: Warehouse, token: string, now: Date) {
  const since = new Date(now.getTime() - UNVERIFIED_MS);
  const unverified = await unverifiedPoints(warehouse, { since });
  const read = await readBalance(warehouse, token);
  const logged = await lastBalance(warehouse, read?.tokenId);
  // The log has the clock of the service, so only the times of the readings can be compared.
  const newest = read && (!logged || logged.readAt <= read.readAt) ? read : logged;
  if (!newest) return { balance: null, unverified };
  const { points } = await spentSince(warehouse, newest.readAt);
  const running = await pointsRunningAt(warehouse, newest.readAt);
  const left = newest.points - Number(points) - running;
  return { balance: { points: left, at: newest.readAt.toISOString() }, unverified };
}
