/** Reads the watermarks of syncs for people: what is known of each input, and what the next run requests. */
import { dayOf } from '../../day.ts';
import type { SyncDefinition } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { maxAgesOf } from '../../control/freshness/max-age.ts';
import { isReset, readWatermarks, type Watermarks } from '../../ledger/watermarks.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Task } from '../../plan/task.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { inputsOf, tasksOfInput } from '../prepare/plan-sync.ts';
import {
  sinceResets,
  LOG_START,
  resetOf,
  watermarkNames,
  watermarkOf,
  type WatermarkNames,
  logWatermark,
} from '../prepare/watermarks.ts';
import { firstOfQuestion } from '../prepare/unique-questions.ts';
import { daysOf, parseWindowWatermark, type WindowWatermark } from '../prepare/window-watermark.ts';

/** The range of a sync that a watermark or a request covers; null is the beginning, or the present. */
export interface MarkRange {
  readonly from: string | null;
  readonly to: string | null;
}

/** The watermark of one input. Days are YYYY-MM-DD, instants RFC 3339. */
export interface Mark {
  /** The fields of the input; {} without `for_each`. */
  readonly input: RequestBody;
  /** What was read; null if nothing was, or if the config now needs more. */
  readonly known: MarkRange | null;
  /** Receipt of the oldest answer behind it; null for a log, or without a watermark. */
  readonly asOf: string | null;
  /** Slices in the range without a readable answer; the next run requests them again. */
  readonly unreadable: number;
  /** When the watermark was last reset; null if it never was. */
  readonly resetAt: string | null;
  /** The range that the next run requests, apart from these slices; null if it requests none. */
  readonly next: MarkRange | null;
}

export interface SyncMarks {
  readonly sync: string;
  readonly endpoint: string;
  readonly marks: readonly Mark[];
  /** Watermarks of inputs or requests that the config no longer has. */
  readonly unused: number;
  /** Why the inputs of the sync could not be read; null if they could. */
  readonly problem: string | null;
}

/** True if later runs of a sync request only what its watermarks do not cover. */
export const hasWatermarks = ({ endpoint, window }: Pick<SyncDefinition, 'endpoint' | 'window'>): boolean =>
  endpoint.paging.by === 'cursor' || window !== undefined;

/** Returns the watermarks of those of these syncs that have any. */
export async function readMarks(
  warehouse: Warehouse,
  definitions: readonly SyncDefinition[],
  now: Date,
): Promise<SyncMarks[]> {
  const found: SyncMarks[] = [];
  for (const definition of definitions.filter(hasWatermarks)) found.push(await marksOf(warehouse, definition, now));
  return found;
}

async function marksOf(warehouse: Warehouse, definition: SyncDefinition, now: Date): Promise<SyncMarks> {
  const watermarks = await readWatermarks(operationsOf(warehouse), definition.name);
  const marks: Mark[] = [];
  const used = new Set<string>([LOG_START]);
  let problem: string | null = null;
  try {
    const inputs = await inputsOf(warehouse, definition);
    const maxAgeOf = sinceResets(definition, await maxAgesOf(definition, inputs), watermarks);
    const isFirst = firstOfQuestion(definition);
    const context = { options: { refresh: false }, maxAgeOf, watermarks, now, today: dayOf(now) };
    for await (const block of inputs.blocks())
      for (const { fields } of block) {
        const names = watermarkNames(definition, fields);
        if (!names) continue;
        const isListed = used.has(names.name) || !isFirst(fields);
        for (const name of [names.name, ...names.former]) used.add(name);
        if (isListed) continue;
        const { rest } = tasksOfInput(definition, fields, context);
        marks.push({ input: fields, ...knownOf(definition, watermarks, names, now), next: rangeOf(definition, rest) });
      }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problem = error.message;
  }
  const unused = problem === null ? [...watermarks.keys()].filter((it) => !isReset(it) && !used.has(it)).length : 0;
  return { sync: definition.name, endpoint: definition.endpoint.name, marks, unused, problem };
}

function knownOf(
  definition: SyncDefinition,
  watermarks: Watermarks,
  names: WatermarkNames,
  now: Date,
): Pick<Mark, 'known' | 'asOf' | 'unreadable' | 'resetAt'> {
  const resetAt = resetOf(watermarks, names) ?? null;
  if (definition.endpoint.paging.by === 'cursor') {
    const to = logWatermark(definition, watermarks, now);
    const start = watermarks.get(LOG_START) ?? '';
    const known = to === undefined ? null : { from: start === '' ? null : start, to };
    return { known, asOf: null, unreadable: 0, resetAt };
  }
  const mark: WindowWatermark | undefined = parseWindowWatermark(watermarkOf(watermarks, names), definition, now);
  return {
    // The first slice may be unreadable, and the first day may not have ended.
    known: mark && mark.from <= mark.lastCompleteDay ? { from: mark.from, to: mark.lastCompleteDay } : null,
    asOf: mark?.asOf ?? null,
    unreadable: mark?.unread?.length ?? 0,
    resetAt,
  };
}

/** The range of the first and the last of these requests. */
function rangeOf({ endpoint }: SyncDefinition, tasks: readonly Task[]): MarkRange | null {
  const [first, last] = [tasks[0]?.request, tasks.at(-1)?.request];
  if (!first || !last) return null;
  const { days } = endpoint.paging;
  if (days) return { from: daysOf(days, first).from, to: daysOf(days, last).to };
  return { from: textOf(first['start_time']), to: textOf(last['end_time']) };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
