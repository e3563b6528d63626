/** What the firings of schedules cost in a time to come, from the prices and the stored answers of the warehouse. */
import { readPrices } from '../../control/budget/read-price-book.ts';
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { addDays, DAY_MS, dayOf } from '../../day.ts';
import { receivedAtOf } from '../../ledger/answers.ts';
import {
  type DueQuestions,
  dueQuestions,
  type QuestionGroup,
  type ServesUntil,
} from '../../plan/forecast/due-questions.ts';
import type { FiringCost, PointsRange, ScheduledCost } from '../../plan/forecast/scheduled-points.ts';
import { orderSyncs } from '../../config/order.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { QuestionTotals } from '../../plan/pricing/quote.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { dayIn, endOfDayIn } from '../../service/paging.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { PlanOptions } from '../prepare/plan-hash.ts';
import { planSync } from '../prepare/plan-sync.ts';
import { checkQueries } from '../queries/check-queries.ts';
import { openForecast } from './pending.ts';

/** Returns the firings of a schedule after one instant, up to another. */
export type FiringsUntil = (
  schedule: NonNullable<SyncDefinition['schedule']>,
  after: Date,
  until: Date,
) => readonly Date[];

/** The time that a forecast covers. */
export interface ForecastTime {
  readonly now: Date;
  readonly until: Date;
  readonly firingsUntil: FiringsUntil;
  /** Ends the forecast, which throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the expected cost of each sync from `now` to `until`, parents first. Inputs and prices are those of now. Throws a
 * UsageError for inputs that fail.
 */
export async function scheduledCosts(
  warehouse: Warehouse,
  config: Pick<Config, 'syncs' | 'prices'>,
  time: ForecastTime,
): Promise<readonly ScheduledCost[]> {
  const definitions = orderSyncs(config.syncs);
  await checkQueries(warehouse, definitions);
  const firings = firingsOfAll(definitions, time);
  const costs: ScheduledCost[] = [];
  for (const definition of definitions)
    costs.push(
      await scheduledCost({ warehouse, config, definition, ...time, firings: firings.get(definition.name) ?? [] }),
    );
  return costs;
}

/** The firings of each sync. A sync without a schedule starts when its parents end. */
function firingsOfAll(
  definitions: readonly SyncDefinition[],
  { now, until, firingsUntil }: ForecastTime,
): ReadonlyMap<string, readonly Date[]> {
  const firings = new Map<string, readonly Date[]>();
  for (const { name, schedule, after } of definitions) {
    const times = schedule
      ? firingsUntil(schedule, now, until)
      : after.flatMap((parent) => firings.get(parent) ?? []).toSorted((a, b) => a.getTime() - b.getTime());
    firings.set(
      name,
      times.filter((at, index) => at.getTime() !== times[index - 1]?.getTime()),
    );
  }
  return firings;
}

interface CostContext {
  readonly warehouse: Warehouse;
  readonly config: Pick<Config, 'prices'>;
  readonly definition: SyncDefinition;
  readonly now: Date;
  readonly until: Date;
  readonly firings: readonly Date[];
  readonly signal?: AbortSignal;
}

async function scheduledCost(context: CostContext): Promise<ScheduledCost> {
  const { warehouse, config, definition, firings, now } = context;
  const prices = await readPrices(warehouse, config, definition);
  const groups = await questionGroups(context);
  const [firstRange, laterRange] = rangesOf(context);
  const first = await costOfQuestion(context, prices, firstRange);
  const later = laterRange === undefined ? first : await costOfQuestion(context, prices, laterRange);
  const costOf = (due: DueQuestions): FiringCost => {
    const points = (name: keyof PointsRange): number => due.first * first[name] + due.again * later[name];
    return {
      at: due.at,
      questions: due.first + due.again,
      low: points('low'),
      likely: points('likely'),
      high: points('high'),
    };
  };
  return {
    sync: definition.name,
    endpoint: definition.endpoint.name,
    tags: definition.tags,
    firings: dueQuestions(firings, groups, daysServeUntil(definition)).map(costOf),
    once: dueQuestions([now], groups, daysServeUntil(definition)).map(costOf),
    confidence: prices.confidence,
  };
}

/** The questions of the sync by their age limit and age, to the minute. */
async function questionGroups({ warehouse, definition, now, signal }: CostContext): Promise<readonly QuestionGroup[]> {
  // A walk through the log is one question, whatever the number of its days.
  if (definition.endpoint.paging.by === 'cursor') return [{ questions: 1, maxAgeMs: undefined, answeredMs: 0 }];
  const ops = operationsOf(warehouse);
  const { parts, maxAgeOf } = await planSync(warehouse, definition, { refresh: false, signal }, now);
  const groups = new Map<string, QuestionGroup>();
  const add = (questions: number, maxAgeMs: number | undefined, answeredMs: number | undefined): void => {
    const key = `${maxAgeMs} ${answeredMs}`;
    groups.set(key, { questions: questions + (groups.get(key)?.questions ?? 0), maxAgeMs, answeredMs });
  };
  for await (const part of parts(ops)) {
    const received = await receivedAtOf(ops, [...part.fresh.values()]);
    const relied = new Set(part.reliedInputs.map(canonicalJson));
    for (const { requestKey, input } of part.tasks) {
      if (part.givenUp.has(requestKey) || part.failing.has(requestKey)) continue;
      const at = received.get(part.fresh.get(requestKey) ?? '');
      // An input with a watermark was requested before, at an unknown time.
      const answeredMs = at === undefined ? (relied.has(canonicalJson(input)) ? 0 : undefined) : minuteOf(at);
      add(1, maxAgeOf(input)?.maxAgeMs, answeredMs);
    }
    for (const { input, asOf } of part.covered) add(1, maxAgeOf(input)?.maxAgeMs, minuteOf(new Date(asOf)));
  }
  return [...groups.values()];
}

/**
 * Returns until when an answer about the days of a window serves, whatever its age. It ends when the next of these days ends
 * in the time zone of the source. A window up to the present also has a new last day from the next UTC day on.
 */
function daysServeUntil({ window, endpoint: { paging } }: SyncDefinition): ServesUntil | undefined {
  const timeZone = paging.days?.timeZone;
  if (!window || timeZone === undefined) return undefined;
  const { from, to } = window;
  return (answeredMs) => {
    const answeredOn = dayIn(timeZone, new Date(answeredMs));
    const unfinished = answeredOn > from ? answeredOn : from;
    if (to !== 'today' && unfinished > to) return Number.POSITIVE_INFINITY;
    const dayEndMs = endOfDayIn(timeZone, unfinished).getTime();
    return to === 'today' ? Math.min(dayEndMs, (Math.floor(answeredMs / DAY_MS) + 1) * DAY_MS) : dayEndMs;
  };
}

const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000) * 60_000;

/** The plans that show the cost of a question: when it is new, and later, if its days are then fewer. */
function rangesOf({ definition, now, until, firings }: CostContext): readonly [PlanOptions, PlanOptions?] {
  const refresh = true;
  const { window, lookbackMs, endpoint } = definition;
  const today = dayOf(now);
  if (endpoint.paging.by === 'cursor') return [{ refresh, from: addDays(today, -1) }];
  if (!window) return [{ refresh }];
  const to = window.to === 'today' ? today : window.to;
  const days = (until.getTime() - now.getTime()) / DAY_MS;
  const between = Math.ceil(days / Math.max(1, firings.length));
  const again = addDays(to, -Math.ceil(lookbackMs / DAY_MS) - between);
  return [
    { refresh, from: window.from, to },
    { refresh, from: again > window.from ? again : window.from, to },
  ];
}

/** The average cost of a question of this plan, as if no answer were fresh. */
async function costOfQuestion(
  { warehouse, definition, now, signal }: CostContext,
  prices: PriceBook,
  options: PlanOptions,
): Promise<PointsRange> {
  const ops = operationsOf(warehouse);
  const forecast = await openForecast(ops, definition, now);
  const totals = new QuestionTotals();
  const plan = await planSync(warehouse, definition, { ...options, signal }, now);
  for await (const part of plan.parts(ops)) for (const question of await forecast(part)) totals.add(question);
  const { low, likely, high } = totals.points(prices);
  const questions = definition.endpoint.paging.by === 'cursor' ? 1 : Math.max(1, totals.questions);
  return { low: low / questions, likely: likely / questions, high: high / questions };
}
