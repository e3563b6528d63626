/** Derives advice about costs, in sentences. Pure. */
import type { Config } from '../../config/definition.ts';
import { DAY_MS, dayOf } from '../../day.ts';
import type { MaxAgeSaving } from '../../insight/cost-sources.ts';
import type { Costs } from '../../insight/costs.ts';
import { withNoun, withThousands } from '../terminal/print.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';

/** A request log whose newest row is older than this is out of date. */
const STALE_MS = 7 * DAY_MS;
/** The advice warns of points that run out within this time. */
const SOON_MS = 30 * DAY_MS;
/** The smallest share of the points whose saving justifies a change. */
const LEAST_SHARE = 0.05;
/** The greatest tolerable share of saved answers that contained something new. */
const MOST_LATE = 0.1;

/** Next steps, most urgent first; empty if there is nothing to do. */
export function adviceOf(costs: Costs, config: Pick<Config, 'syncs'>, now: Date): string[] {
  return [
    ...logAdvice(costs, config, now),
    ...balanceAdvice(costs, now),
    ...config.syncs.flatMap(({ name, maxAgeMs, autoAge }) =>
      autoAge ? [] : savingAdvice(name, maxAgeMs, costs.savings),
    ),
    ...failureAdvice(costs),
  ];
}

function logAdvice({ balances, syncs, verification }: Costs, config: Pick<Config, 'syncs'>, now: Date): string[] {
  const reader = config.syncs.find(({ endpoint }) => endpoint.name === LOG_ENDPOINT)?.name;
  const read =
    reader === undefined ? `add a sync with endpoint: ${LOG_ENDPOINT} and run it` : `run sluice sync ${reader}`;
  const newest = Math.max(...balances.map(({ newestAt }) => newestAt.getTime()));
  if (balances.length === 0)
    return verification.unverifiedRequests > 0 && syncs.some(({ ledgerPoints }) => ledgerPoints > 0)
      ? [`${read}: the request log has no rows for this time yet, so points are known only from the price list`]
      : [];
  return now.getTime() - newest > STALE_MS
    ? [`${read}: the request log ends on ${dayOf(new Date(newest))}, and later requests are not counted`]
    : [];
}

function balanceAdvice({ balances }: Costs, now: Date): string[] {
  const dates = balances.flatMap(({ isOurs, runsOutAt7 }) => (isOurs && runsOutAt7 ? [runsOutAt7.getTime()] : []));
  const at = new Date(Math.min(...dates));
  if (dates.length === 0 || at.getTime() - now.getTime() > SOON_MS) return [];
  const when = at > now ? `run out on ${dayOf(at)}` : `would have run out on ${dayOf(at)} already`;
  return [`get more points or set budget.per_day: at the recent mean rate (over at most 7 days) they ${when}`];
}

/**
 * Returns the max_age that would have saved most with few late answers, and the shortest of equal ones: `savings` is in
 * this order. Savings of the current max_age are subtracted. Undefined if none saves much.
 */
export function savingMaxAge(
  sync: string,
  maxAgeMs: number | undefined,
  savings: readonly MaxAgeSaving[],
): MaxAgeSaving | undefined {
  const currentMs = maxAgeMs ?? 0;
  const ofSync = savings.filter((it) => it.sync === sync);
  const set = ofSync.findLast((it) => it.maxAgeDays * DAY_MS <= currentMs);
  const [best] = ofSync
    .filter((it) => it.maxAgeDays * DAY_MS > currentMs)
    .map((it) => ({
      ...it,
      savedPoints: it.savedPoints - (set?.savedPoints ?? 0),
      savedAnswers: it.savedAnswers - (set?.savedAnswers ?? 0),
      lateAnswers: it.lateAnswers - (set?.lateAnswers ?? 0),
    }))
    .filter(({ points, savedPoints }) => savedPoints > 0 && savedPoints >= LEAST_SHARE * points)
    .filter(({ savedAnswers, lateAnswers }) => lateAnswers <= MOST_LATE * savedAnswers)
    .toSorted((a, b) => b.savedPoints - a.savedPoints);
  return best;
}

function savingAdvice(sync: string, maxAgeMs: number | undefined, savings: readonly MaxAgeSaving[]): string[] {
  const best = savingMaxAge(sync, maxAgeMs, savings);
  if (!best) return [];
  const hasAge = savings.some((it) => it.sync === sync && it.maxAgeDays * DAY_MS <= (maxAgeMs ?? 0));
  const { maxAgeDays, savedPoints, points, savedAnswers, lateAnswers } = best;
  const late =
    lateAnswers === 0
      ? 'none of the answers not bought contained anything new'
      : `${withThousands(lateAnswers)} of the ${withNoun(savedAnswers, 'answer')} not bought contained something new`;
  return [
    `set max_age: ${maxAgeDays}d for ${sync}: it would have saved ${withThousands(savedPoints)}${hasAge ? ' more' : ''} of ${withNoun(points, 'point')}; ${late}`,
  ];
}

function failureAdvice({ failures }: Costs): string[] {
  const points = failures.reduce((sum, it) => sum + it.points, 0);
  if (points === 0) return [];
  return [
    `ask the service about ${withNoun(points, 'point')} charged for nothing: sluice query "select * from charged_failures" lists the requests`,
  ];
}
