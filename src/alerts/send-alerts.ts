/** Records alerts after runs and delivers them: each once when it is raised and once when it is cleared. */
import type { Config, SyncDefinition } from '../config/definition.ts';
import {
  type AlertChannel,
  returnUnsent,
  type AlertCondition,
  clearEndedPeriods,
  clearRemovedSyncs,
  recordCondition,
  recordSent,
  takeUnsent,
} from './store.ts';
import { LOG_ENDPOINT } from '../service/request-log/request-log.ts';
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Notice } from '../ledger/summary.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { readBudgetUse } from '../control/budget/budget-use.ts';
import { breachConditions, isMonth, type ScheduledPoints, shareConditions } from './budget-conditions.ts';
import { channelsOf, type DeliveryEffects } from './channels.ts';
import {
  checkConditions,
  type EndedSync,
  isConclusive,
  forecastCondition,
  quarantineConditions,
  runConditions,
} from './conditions.ts';
import { payloadOf } from './payload.ts';
import { changeConditions } from './run-changes.ts';
import { readChargedCalls, readPartRuns, readRunFacts } from './run-facts.ts';
import { readFailedChecks, readPointsForecast, readQuarantineCounts } from './read-inputs.ts';

export interface AlertEffects extends DeliveryEffects {
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
  /**
   * Returns what the schedules cost in the next 31 days; empty if that is unknown. `elsewhere` if another process, which
   * runs the schedules, decides about months that end early.
   */
  readonly scheduledPoints?: (() => Promise<readonly ScheduledPoints[]>) | 'elsewhere';
}

/** The config whose alerts are sent. */
export interface AlertConfig extends Pick<Config, 'alerts' | 'budget' | 'file'> {
  readonly syncs: readonly Pick<SyncDefinition, 'name'>[];
}

export type AlertDatabase = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** Which steps succeeded. */
export interface AlertsResult {
  /** The conditions are in the database. */
  readonly isRecorded: boolean;
  /** No channel refused an alert, so this process has nothing left to deliver. */
  readonly isDelivered: boolean;
}

/**
 * Records the conditions of these runs, and delivers new alerts and those that could not be delivered before. Never
 * throws: an error becomes a notice, because alerts must not change how the runs ended.
 */
export async function sendAlerts(
  config: AlertConfig,
  warehouse: AlertDatabase,
  { syncs }: { readonly syncs: readonly EndedSync[] },
  effects: AlertEffects,
): Promise<AlertsResult> {
  if (!config.alerts) return { isRecorded: true, isDelivered: true };
  const { alerts, budget } = config;
  const warn = (message: string): void => effects.onNotice({ level: 'warn', message: effects.redact(message) });
  let isRecorded = false;
  try {
    const ops = operationsOf(warehouse);
    for (const condition of await conditionsOf({ alerts, budget }, warehouse, syncs, effects))
      await recordCondition(ops, condition, config.file, effects.now());
    await clearEndedPeriods(ops, effects.now());
    await clearRemovedSyncs(ops, config, effects.now());
    isRecorded = true;
    const channels = channelsOf(alerts, effects);
    const refused = new Set<AlertChannel>();
    const names = channels.map(({ name }) => name);
    for (const state of await takeUnsent(ops, names, alerts.on)) {
      let mayHaveArrived = state.wasTried;
      const due = channels.filter(({ name }) => state[`${name}At`] === null);
      for (const { name, send } of due) {
        // Each further alert would wait as long for a channel that does not respond.
        if (refused.has(name)) continue;
        const delivery = await send(payloadOf(state, effects.redact));
        if (delivery.ok) await recordSent(ops, state, name, effects.now());
        else {
          refused.add(name);
          mayHaveArrived ||= delivery.mayHaveArrived;
          warn(`an alert could not be delivered: ${delivery.because}; Sluice retries it`);
        }
      }
      if (due.some(({ name }) => refused.has(name))) await returnUnsent(ops, state, mayHaveArrived);
    }
    return { isRecorded, isDelivered: refused.size === 0 };
  } catch (error) {
    warn(`alerts could not be processed: ${error instanceof Error ? error.message : String(error)}`);
    return { isRecorded, isDelivered: false };
  }
}

async function conditionsOf(
  { alerts, budget }: Required<Pick<Config, 'alerts' | 'budget'>>,
  warehouse: AlertDatabase,
  syncs: readonly EndedSync[],
  effects: AlertEffects,
): Promise<AlertCondition[]> {
  const now = effects.now();
  const conditions = runConditions(syncs, await readPartRuns(warehouse, syncs));
  const names = syncs.map(({ sync }) => sync);
  if (alerts.on.includes('quarantine'))
    conditions.push(...quarantineConditions(await readQuarantineCounts(warehouse, names), alerts));
  if (alerts.on.includes('check')) conditions.push(...checkConditions(await readFailedChecks(warehouse, names)));
  if (CHANGES.some((kind) => alerts.on.includes(kind))) conditions.push(...(await changesOf(warehouse, syncs)));
  if (alerts.on.includes('budget')) conditions.push(...(await budgetConditions(warehouse, budget, effects)));
  // Only a reading of the request log brings new information about points.
  if (alerts.on.includes('forecast') && syncs.some(({ endpoint }) => endpoint === LOG_ENDPOINT)) {
    const forecast = await readPointsForecast(warehouse);
    if (forecast) conditions.push(forecastCondition(forecast, budget, alerts, now));
  }
  return conditions.filter(({ kind }) => alerts.on.includes(kind));
}

async function budgetConditions(
  warehouse: AlertDatabase,
  budget: Config['budget'],
  { now, scheduledPoints }: AlertEffects,
): Promise<AlertCondition[]> {
  const uses = await readBudgetUse(warehouse, budget, now());
  const conditions = shareConditions(uses);
  if (!uses.some(isMonth) || scheduledPoints === 'elsewhere') return conditions;
  const scheduled = (await scheduledPoints?.()) ?? [];
  return [...conditions, ...breachConditions(uses, now(), scheduled)];
}

const CHANGES = ['contract', 'price', 'access', 'counts'] as const;

async function changesOf(warehouse: AlertDatabase, syncs: readonly EndedSync[]): Promise<AlertCondition[]> {
  const conditions: AlertCondition[] = [];
  for (const ended of syncs.filter(isConclusive)) {
    const { runId } = ended;
    const facts = runId === null ? undefined : await readRunFacts(warehouse, { ...ended, runId });
    if (facts) conditions.push(...changeConditions(ended, facts, await readChargedCalls(warehouse, ended.sync)));
  }
  return conditions;
}
