/** Delivers the alerts of a long-running process: at its start, after each run, and again until every channel accepted them. */
import type { EndedSync } from './conditions.ts';
import { type AlertConfig, sendAlerts, type AlertEffects, type AlertDatabase } from './send-alerts.ts';

export interface AlertSender {
  /** Queues the end of a sync: its alerts are recorded and delivered after earlier ones. Returns immediately. */
  readonly report: (ended: EndedSync) => void;
  /** Waits for deliveries in progress. The next process delivers the alerts that remain. */
  readonly close: () => Promise<void>;
}

/**
 * The first and the longest wait before a retry. Without retries, the next run would be the next attempt, perhaps a day
 * later. The wait doubles each time, because each failure adds a line to the log.
 */
const FIRST_AGAIN_MS = 60_000;
const LONGEST_AGAIN_MS = 3_600_000;

/** A sender for the alerts that the config enables. */
export function openAlertSender(config: AlertConfig, warehouse: AlertDatabase, effects: AlertEffects): AlertSender {
  const closed = new AbortController();
  /** The last end of each sync whose conditions are not recorded yet. */
  const unrecorded = new Map<string, EndedSync>();
  let last = Promise.resolve();
  let againMs = FIRST_AGAIN_MS;
  let waits = false;
  const sendAll = async (): Promise<void> => {
    const syncs = [...unrecorded.values()];
    unrecorded.clear();
    const { isRecorded, isDelivered } = await sendAlerts(config, warehouse, { syncs }, effects);
    if (!isRecorded) for (const ended of syncs) if (!unrecorded.has(ended.sync)) unrecorded.set(ended.sync, ended);
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
        enqueue();
      },
      () => undefined,
    );
  };
  const enqueue = (): void => {
    last = last.then(sendAll);
  };
  // Alerts that an earlier process did not deliver.
  if (config.alerts) enqueue();
  return {
    report: (ended) => {
      if (!config.alerts) return;
      unrecorded.set(ended.sync, ended);
      enqueue();
    },
    close: async () => {
      closed.abort();
      await last;
    },
  };
}
