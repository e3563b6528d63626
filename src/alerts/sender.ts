/** Tells the alerts of a long-running process: after each run, and what nobody heard again until somebody does. */
import type { Config } from '../config/definition.ts';
import type { EndedSync } from './conditions.ts';
import { sendAlerts, type AlertEffects, type AlertDatabase } from './send-alerts.ts';

export interface AlertSender {
  /** Judges how a sync ended and tells what is new, after what came before; nobody waits for it. */
  readonly report: (ended: EndedSync) => void;
  /** Waits for what is being told; what is not heard then, the next process tells. */
  readonly close: () => Promise<void>;
}

/** A sync that runs once a day would tell tomorrow what failed today; longer and longer, since each failure is a line of the log. */
const FIRST_AGAIN_MS = 60_000;
const LONGEST_AGAIN_MS = 3_600_000;

/** Begins to tell what the config wants told. */
export function openAlertSender(
  config: Pick<Config, 'alerts' | 'budget'>,
  warehouse: AlertDatabase,
  effects: AlertEffects,
): AlertSender {
  const closed = new AbortController();
  /** How syncs ended that could not be judged yet, the last end of each. */
  const unjudged = new Map<string, EndedSync>();
  let last = Promise.resolve();
  let againMs = FIRST_AGAIN_MS;
  let waits = false;
  const tellAll = async (): Promise<void> => {
    const syncs = [...unjudged.values()];
    unjudged.clear();
    const { isRecorded, isDelivered } = await sendAlerts(config, warehouse, { syncs }, effects);
    if (!isRecorded) for (const it of syncs) if (!unjudged.has(it.sync)) unjudged.set(it.sync, it);
    if (isRecorded && isDelivered) {
      againMs = FIRST_AGAIN_MS;
      return;
    }
    if (waits || closed.signal.aborted) return;
    waits = true;
    const ms = againMs;
    againMs = Math.min(againMs * 2, LONGEST_AGAIN_MS);
    void effects.sleep(ms, closed.signal).then(
      () => {
        waits = false;
        enter();
      },
      () => undefined,
    );
  };
  const enter = (): void => {
    last = last.then(tellAll);
  };
  return {
    report: (ended) => {
      if (!config.alerts) return;
      unjudged.set(ended.sync, ended);
      enter();
    },
    close: async () => {
      closed.abort();
      await last;
    },
  };
}
