/** Tells, after runs, what a person should know of: each state once, when it is raised and when it is over. */
import type { Config } from '../config/definition.ts';
import { type AlertChannel, giveBack, type Judgement, recordJudgement, recordTold, takeUntold } from './store.ts';
import { LOG_ENDPOINT } from '../ledger/log-reads.ts';
import { operationsOf } from '../warehouse/connect/operations-db.ts';
import type { Notice } from '../ledger/summary.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { channelsOf } from './deliver.ts';
import type { DeliveryEffects } from './delivery.ts';
import { type Ended, judgedForecast, judgedQuarantine, judgedRuns } from './judge.ts';
import { payloadOf } from './payload.ts';
import { readOutlook, readQuarantined } from './standing.ts';

export interface TellEffects extends DeliveryEffects {
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

export type TellPlace = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** How far it came. */
export interface Told {
  /** What stands is written down. */
  readonly judged: boolean;
  /** Nothing is left that this process could tell. */
  readonly told: boolean;
}

/**
 * Judges what these runs came to, and tells whom the config names of what is new, and of what could not be told before.
 * Nothing that goes wrong with it is thrown: it is told as a notice, and the runs have ended as they have.
 */
export async function tellAlerts(
  config: Pick<Config, 'alerts' | 'budget'>,
  warehouse: TellPlace,
  { syncs }: { readonly syncs: readonly Ended[] },
  effects: TellEffects,
): Promise<Told> {
  if (!config.alerts) return { judged: true, told: true };
  const { alerts, budget } = config;
  const warn = (message: string): void => effects.onNotice({ level: 'warn', message: effects.redact(message) });
  let judged = false;
  try {
    const ops = operationsOf(warehouse);
    for (const it of await judgementsOf({ alerts, budget }, warehouse, syncs, effects.now()))
      await recordJudgement(ops, it, effects.now());
    judged = true;
    const channels = channelsOf(alerts, effects);
    const refused = new Set<AlertChannel>();
    const names = channels.map(({ name }) => name);
    for (const state of await takeUntold(ops, names, alerts.on)) {
      const due = channels.filter(({ name }) => state[`${name}At`] === null);
      for (const { name, tell } of due) {
        // The others would have to wait as long for what doesn't answer, each.
        if (refused.has(name)) continue;
        const delivery = await tell(payloadOf(state, effects.redact));
        if (delivery.ok) await recordTold(ops, state, name, effects.now());
        else {
          refused.add(name);
          warn(`an alert could not be told: ${delivery.because}; it is tried again`);
        }
      }
      if (due.some(({ name }) => refused.has(name))) await giveBack(ops, state);
    }
    return { judged, told: refused.size === 0 };
  } catch (error) {
    warn(`alerts could not be looked after: ${error instanceof Error ? error.message : String(error)}`);
    return { judged, told: false };
  }
}

async function judgementsOf(
  { alerts, budget }: Required<Pick<Config, 'alerts' | 'budget'>>,
  warehouse: TellPlace,
  syncs: readonly Ended[],
  now: Date,
): Promise<Judgement[]> {
  const judged = judgedRuns(syncs);
  if (alerts.on.includes('quarantine')) {
    const names = syncs.map(({ sync }) => sync);
    judged.push(...judgedQuarantine(await readQuarantined(warehouse, names), alerts));
  }
  // Nothing is known anew of points where the log was not read.
  if (alerts.on.includes('forecast') && syncs.some(({ endpoint }) => endpoint === LOG_ENDPOINT)) {
    const outlook = await readOutlook(warehouse);
    if (outlook) judged.push(judgedForecast(outlook, budget, alerts, now));
  }
  return judged.filter(({ kind }) => alerts.on.includes(kind));
}
