/** Makes the plan of a run and enters it into the ledger, or takes up the run that was cut short. */
import { readFile } from 'node:fs/promises';
import type { Config, SyncDefinition } from '../config/definition.ts';
import { freshAnswers, planRequests } from '../ops/ledger.ts';
import { readMarks } from '../ops/marks.ts';
import { type Ops, operationsOf } from '../ops/schema.ts';
import { continueRun, createRun, type Run } from '../ops/runs.ts';
import { readInputs } from '../plan/inputs.ts';
import { planTasks } from '../plan/plan.ts';
import type { Task } from '../plan/task.ts';
import type { RequestBody } from '../service/asked.ts';
import type { Price } from '../service/endpoint.ts';
import { canonicalJson, digestOf } from '../service/identity.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { readOnlyQuery } from '../warehouse/query.ts';

export interface PlanOptions {
  readonly refresh: boolean;
  readonly from?: string;
  readonly to?: string;
}

/** The tasks of a sync as of now. */
export interface Plan {
  readonly tasks: readonly Task[];
  /** By request key, the stored answer that serves. */
  readonly fresh: ReadonlyMap<string, string>;
  /** Inputs whose window was asked whole within `max_age`: nothing new is asked for them. */
  readonly covered: number;
}

/** Name of the mark that says up to when the log was read. */
export const LOG_MARK = 'log';

/** How far the window of one input is known. */
export interface WindowMark {
  /** The last day that had ended when it was asked; everything up to it is in. */
  readonly lastCompleteDay: string;
  /** The last day asked for. */
  readonly to: string;
  readonly asOf: string;
}

/** Name of the mark of one input's window; another definition has marks of its own. */
export const windowMarkName = (definition: Pick<SyncDefinition, 'hash'>, input: RequestBody): string =>
  `window:${digestOf(canonicalJson([definition.hash, input]))}`;

/** Plans a sync; spends nothing. Throws a UsageError for inputs that break the contract. */
export async function planSync(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  now: Date,
): Promise<Plan> {
  const ops = operationsOf(warehouse);
  const today = now.toISOString().slice(0, 10);
  const inputs = await readInputs(definition, {
    readFile: (path) => readFile(path, 'utf8'),
    query: async (text) => (await readOnlyQuery(warehouse, text)).rows,
  });
  const backfill = options.from !== undefined || options.to !== undefined;
  const marks = await readMarks(ops, definition.name);
  const range = {
    ...(options.from !== undefined && { from: options.from }),
    ...(options.to !== undefined && { to: options.to }),
  };
  const tasks = new Map<string, Task>();
  let covered = 0;
  for (const input of inputs) {
    const mark = windowMark(marks.get(windowMarkName(definition, input)));
    if (mark && !options.refresh && !backfill && isCovered(definition, mark, today, now)) {
      covered += 1;
      continue;
    }
    const facts = { today, lastCompleteDay: mark?.lastCompleteDay, logMark: marks.get(LOG_MARK), ...range };
    for (const task of planTasks(definition, [input], facts))
      if (!tasks.has(task.requestKey)) tasks.set(task.requestKey, task);
  }
  const planned = [...tasks.values()];
  const fresh = await freshFor(ops, definition, planned, options.refresh, now);
  return { tasks: planned, fresh, covered };
}

const windowMark = (text: string | undefined): WindowMark | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as WindowMark);

function isCovered({ maxAgeMs, window }: SyncDefinition, mark: WindowMark, today: string, now: Date): boolean {
  const to = window === undefined || window.to === 'today' ? today : window.to;
  return maxAgeMs !== undefined && mark.to >= to && now.getTime() - Date.parse(mark.asOf) <= maxAgeMs;
}

export interface Prepared {
  readonly run: Run;
  /** Inputs that needed no question, see `Plan`. */
  readonly covered: number;
}

/**
 * The run to carry out: an open one continued, else a new one with its whole plan in the ledger. `onLost` is told of
 * requests of runs given up that may have been paid for without an answer.
 */
export async function prepareRun(
  warehouse: Warehouse,
  definition: SyncDefinition,
  options: PlanOptions,
  holder: string,
  now: Date,
  onLost: (requestId: string) => void,
): Promise<Prepared> {
  const request = {
    sync: definition.name,
    endpoint: definition.endpoint.name,
    definitionHash: planHash(definition, options),
    holder,
    now,
  };
  const { run: open, lost } = await warehouse.db
    .transaction()
    .execute((tx) => continueRun(operationsOf({ db: tx, ops: warehouse.ops }), request));
  lost.forEach(onLost);
  if (open) return { run: open, covered: 0 };
  const plan = await planSync(warehouse, definition, options, now);
  const run = await warehouse.db.transaction().execute(async (tx) => {
    const inside = operationsOf({ db: tx, ops: warehouse.ops });
    const created = await createRun(inside, request);
    await planRequests(inside, created, plan.tasks, { at: now, freshAnswers: plan.fresh });
    return created;
  });
  return { run, covered: plan.covered };
}

/** A backfill and a refresh have plans of their own, so an open run of the plain sync is not theirs to continue. */
const planHash = (definition: SyncDefinition, { refresh, from, to }: PlanOptions): string =>
  refresh || from !== undefined || to !== undefined
    ? digestOf(canonicalJson([definition.hash, refresh, from ?? null, to ?? null]))
    : definition.hash;

/** By request key, the stored answers that are fresh enough to serve this sync. */
export async function freshFor(
  ops: Ops,
  definition: SyncDefinition,
  tasks: readonly Task[],
  refresh: boolean,
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  if (definition.maxAgeMs === undefined || refresh) return new Map();
  return freshAnswers(
    ops,
    tasks.map(({ requestKey }) => requestKey),
    new Date(now.getTime() - definition.maxAgeMs),
  );
}

/** The price of a sync's endpoint: the config's, else the one it ships with. */
export const priceOf = (config: Pick<Config, 'prices'>, { endpoint }: SyncDefinition): Price =>
  config.prices[endpoint.name] ?? endpoint.price;
