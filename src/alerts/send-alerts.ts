/** Tells, after runs, what a person should know of: each state once, when it is raised and when it is over. */
import type { Config } from '../config/definition.ts';
import {
  type AlertChannel,
  returnUnsent,
  type AlertCondition,
  recordCondition,
  recordSent,
  takeUnsent,
} from './store.ts';
import { LOG_ENDPOINT } from '../ledger/log-reads.ts';
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Notice } from '../ledger/summary.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { channelsOf } from './channels.ts';
import type { DeliveryEffects } from './delivery.ts';
import { type EndedSync, forecastCondition, quarantineConditions, runConditions } from './conditions.ts';
import { payloadOf } from './payload.ts';
import { readPointsForecast, readQuarantineCounts } from './read-inputs.ts';

export interface AlertEffects extends DeliveryEffects {
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

export type AlertDatabase = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** How far it came. */
export interface AlertsResult {
  /** What stands is written down. */
  readonly isRecorded: boolean;
  /** Nothing is left that this process could tell. */
  readonly isDelivered: boolean;
}

/**
 * Judges what these runs came to, and tells whom the config names of what is new, and of what could not be told before.
 * Nothing that goes wrong with it is thrown: it is told as a notice, and the runs have ended as they have.
 */
export async function sendAlerts(
  config: Pick<Config, 'alerts' | 'budget'>,
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
    for (const it of await conditionsOf({ alerts, budget }, warehouse, syncs, effects.now()))
      await recordCondition(ops, it, effects.now());
    isRecorded = true;
    const channels = channelsOf(alerts, effects);
    const refused = new Set<AlertChannel>();
    const names = channels.map(({ name }) => name);
    for (const state of await takeUnsent(ops, names, alerts.on)) {
      const due = channels.filter(({ name }) => state[`${name}At`] === null);
      for (const { name, send } of due) {
        // The others would have to wait as long for what doesn't answer, each.
        if (refused.has(name)) continue;
        const delivery = await send(payloadOf(state, effects.redact));
        if (delivery.ok) await recordSent(ops, state, name, effects.now());
        else {
          refused.add(name);
          warn(`an alert could not be told: ${delivery.because}; it is tried again`);
        }
      }
      if (due.some(({ name }) => refused.has(name))) await returnUnsent(ops, state);
    }
    return { isRecorded, isDelivered: refused.size === 0 };
  } catch (error) {
    warn(`alerts could not be looked after: ${error instanceof Error ? error.message : String(error)}`);
    return { isRecorded, isDelivered: false };
  }
}

async function conditionsOf(
  { alerts, budget }: Required<Pick<Config, 'alerts' | 'budget'>>,
  warehouse: AlertDatabase,
  syncs: readonly EndedSync[],
  now: Date,
): Promise<AlertCondition[]> {
  const judged = runConditions(syncs);
  if (alerts.on.includes('quarantine')) {
    const names = syncs.map(({ sync }) => sync);
    judged.push(...quarantineConditions(await readQuarantineCounts(warehouse, names), alerts));
  }
  // Nothing is known anew of points where the log was not read.
  if (alerts.on.includes('forecast') && syncs.some(({ endpoint }) => endpoint === LOG_ENDPOINT)) {
    const outlook = await readPointsForecast(warehouse);
    if (outlook) judged.push(forecastCondition(outlook, budget, alerts, now));
  }
  return judged.filter(({ kind }) => alerts.on.includes(kind));
}
