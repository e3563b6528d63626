/** Moves watermarks of a sync back, so that its next run requests again what they covered. */
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import { acquireAll } from '../../control/lease/exclusive.ts';
import { addDays } from '../../day.ts';
import { UsageError } from '../../errors.ts';
import { assertLease, assertNoRebuild, syncLease } from '../../ledger/lease.ts';
import { openRuns } from '../../ledger/runs.ts';
import {
  readWatermarks,
  removeWatermark,
  resetName,
  type Watermarks,
  writeWatermark,
} from '../../ledger/watermarks.ts';
import { type PointsQuote, QuestionTotals } from '../../plan/pricing/quote.ts';
import { nearest } from '../../config/document/nearest.ts';
import { microsOf } from '../../service/instant.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { inputText } from '../../text/filters.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Effects } from '../effects.ts';
import { openForecast } from '../forecast/pending.ts';
import { alsoContinued, asksForDays } from '../prepare/plan-hash.ts';
import { inputsOf, planSync } from '../prepare/plan-sync.ts';
import { questionKey } from '../prepare/unique-questions.ts';
import { watermarkNames, watermarkOf, type WatermarkNames } from '../prepare/watermarks.ts';
import { daysOf, reachedDay, type WindowWatermark } from '../prepare/window-watermark.ts';
import { hasWatermarks } from './read-marks.ts';

export interface ResetOptions {
  /** The text or the JSON of one input; absent, all inputs of the sync. */
  readonly input?: string | undefined;
  /** The last day that stays known, YYYY-MM-DD; absent, nothing stays known. */
  readonly to?: string | undefined;
  /** Report what would change, and change nothing. */
  readonly dryRun: boolean;
}

/** What the next run of a sync sends, and its cost in points. */
export interface NextRun extends PointsQuote {
  readonly requests: number;
  readonly mostRequests: number;
}

export interface ResetSummary {
  readonly sync: string;
  readonly dryRun: boolean;
  /** The inputs whose watermarks move, each with the last day or instant that was known and that stays known. */
  readonly reset: readonly { readonly input: RequestBody; readonly before: string; readonly after: string | null }[];
  /** The next run without and with the reset. */
  readonly next: { readonly before: NextRun; readonly after: NextRun };
}

type ResetEffects = Pick<Effects, 'now' | 'sleep' | 'newId'>;

/**
 * Resets watermarks and returns what the next run will send. All data stays. Throws a UsageError for an unknown input,
 * for a sync without watermarks, and while the sync has a run to continue; throws a HeldError while it runs.
 */
export async function resetMarks(
  warehouse: Warehouse,
  config: Config,
  definition: SyncDefinition,
  options: ResetOptions,
  effects: ResetEffects,
): Promise<ResetSummary> {
  if (!hasWatermarks(definition))
    throw new UsageError(
      `marks: ${definition.name} has no watermarks, because it has no window and does not read the request log`,
      { next: `To request everything again, run sluice sync --refresh ${definition.name}.` },
    );
  if (options.dryRun) return (await planReset(warehouse, config, definition, options, effects.now())).summary;
  const ops = operationsOf(warehouse);
  await using held = await acquireAll(warehouse, [syncLease(definition.name)], effects);
  await assertNoRebuild(ops);
  const now = effects.now();
  const { moves, summary } = await planReset(warehouse, config, definition, options, now);
  await ops.transaction().execute(async (tx) => {
    for (const lease of held.leases) await assertLease(tx, lease);
    for (const { names, value } of moves) {
      const { name, former } = names;
      for (const other of former) await removeWatermark(tx, definition.name, other);
      if (value === undefined) await removeWatermark(tx, definition.name, name);
      else await writeWatermark(tx, definition.name, name, value, now);
      await writeWatermark(tx, definition.name, resetName(name), now.toISOString(), now);
    }
  });
  return summary;
}

/** The changes of a reset at this time, and what they mean for the next run. */
async function planReset(
  warehouse: Warehouse,
  config: Config,
  definition: SyncDefinition,
  { input, to, dryRun }: ResetOptions,
  now: Date,
): Promise<{ readonly moves: readonly Move[]; readonly summary: ResetSummary }> {
  await refuseOpenRun(warehouse, definition, now);
  const before = await readWatermarks(operationsOf(warehouse), definition.name);
  const moves = movesOf(definition, await selectedInputs(warehouse, definition, input), before, to);
  const after = new Map(before);
  for (const { names, value } of moves) {
    for (const other of names.former) after.delete(other);
    if (value === undefined) after.delete(names.name);
    else after.set(names.name, value);
    after.set(resetName(names.name), now.toISOString());
  }
  const next = {
    before: await nextRun(warehouse, config, definition, before, now),
    after: await nextRun(warehouse, config, definition, after, now),
  };
  const reset = moves.map((move) => ({ input: move.input, before: move.from, after: move.to }));
  return { moves, summary: { sync: definition.name, dryRun, reset, next } };
}

/** Throws a UsageError if the next sync continues a run: its end would move the watermarks as if none had been reset. */
async function refuseOpenRun(warehouse: Warehouse, definition: SyncDefinition, now: Date): Promise<void> {
  const { name, hash } = definition;
  const wanted = { sync: name, definitionHash: hash, asksForDays: asksForDays(definition), now };
  const { last } = await openRuns(operationsOf(warehouse), wanted, alsoContinued(definition, { refresh: false }));
  if (last)
    throw new UsageError(`marks: run ${last.id} of ${name} was interrupted, and the next sync continues it`, {
      next: `Run sluice sync ${name} first, or reset after 24 hours, when the run is no longer continued.`,
    });
}

async function selectedInputs(
  warehouse: Warehouse,
  definition: SyncDefinition,
  wanted: string | undefined,
): Promise<RequestBody[]> {
  const inputs: RequestBody[] = [];
  for await (const block of (await inputsOf(warehouse, definition)).blocks())
    for (const { fields } of block) inputs.push(fields);
  if (wanted === undefined) return inputs;
  const selected = inputs.filter((input) => inputText(input) === wanted || JSON.stringify(input) === wanted);
  const questions = new Set(selected.map((input) => questionKey(definition, input)));
  // The first input of a question has its watermark.
  if (questions.size > 0) return inputs.filter((input) => questions.has(questionKey(definition, input)));
  const texts = new Map(inputs.map((input) => [inputText(input).toLowerCase(), inputText(input)]));
  const meant = texts.get(nearest(wanted, [...texts.keys()]) ?? '');
  throw new UsageError(
    `marks: ${JSON.stringify(wanted)} is not an input of ${definition.name}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`,
    { next: `Run sluice marks list ${definition.name} for its inputs, or name none to reset all.` },
  );
}

interface Move {
  readonly names: WatermarkNames;
  readonly input: RequestBody;
  /** The last known day or instant, and the one that stays known. */
  readonly from: string;
  readonly to: string | null;
  /** The new watermark; undefined removes it. */
  readonly value: string | undefined;
}

/** The changes for these inputs; an input that is not known beyond `to` has none. */
function movesOf(
  definition: SyncDefinition,
  inputs: readonly RequestBody[],
  watermarks: Watermarks,
  to: string | undefined,
): Move[] {
  const moves = new Map<string, Move>();
  for (const input of inputs) {
    const names = watermarkNames(definition, input);
    const text = names && watermarkOf(watermarks, names);
    if (!names || text === undefined || moves.has(names.name)) continue;
    const moved = definition.window ? windowBack(definition, text, to) : logBack(text, to);
    if (moved) moves.set(names.name, { names, input, ...moved });
  }
  return [...moves.values()];
}

type Moved = Omit<Move, 'names' | 'input'>;

/** The log is known up to the end of the day. */
function logBack(text: string, to: string | undefined): Moved | undefined {
  if (to === undefined) return { from: text, to: null, value: undefined };
  const end = `${addDays(to, 1)}T00:00:00.000000Z`;
  return (microsOf(end) ?? 0n) < (microsOf(text) ?? 0n) ? { from: text, to: end, value: end } : undefined;
}

function windowBack({ endpoint }: SyncDefinition, text: string, to: string | undefined): Moved | undefined {
  const { reached: _, unread = [], ...mark } = JSON.parse(text) as WindowWatermark;
  const from = reachedDay(JSON.parse(text) as WindowWatermark);
  const { days } = endpoint.paging;
  if (to === undefined || !days || to < mark.from) return { from, to: null, value: undefined };
  if (to >= from) return undefined;
  // Slices after the day are parts of what is requested again.
  const kept = unread.filter(({ fields }) => daysOf(days, fields).from <= to);
  const lastCompleteDay = mark.lastCompleteDay < to ? mark.lastCompleteDay : to;
  const value: WindowWatermark = {
    ...mark,
    lastCompleteDay,
    to,
    ...(kept.length > 0 && { reached: to, unread: kept }),
  };
  return { from, to, value: JSON.stringify(value) };
}

async function nextRun(
  warehouse: Warehouse,
  config: Config,
  definition: SyncDefinition,
  watermarks: Watermarks,
  now: Date,
): Promise<NextRun> {
  const ops = operationsOf(warehouse);
  const { parts } = await planSync(warehouse, definition, { refresh: false }, now, watermarks);
  const forecast = await openForecast(ops, definition, now);
  const totals = new QuestionTotals();
  for await (const part of parts(ops)) for (const question of await forecast(part)) totals.add(question);
  const { openRequests: requests, mostRequests } = totals;
  return { requests, mostRequests, ...totals.points(await readPrices(warehouse, config, definition)) };
}
