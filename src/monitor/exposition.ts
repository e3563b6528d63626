/** The metrics in the format of Prometheus: figures from the warehouse, cached for a few seconds, and those of this process. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../async/with-timeout.ts';
import { type Figures, readFigures } from './figures.ts';
import {
  DURATION,
  DURATION_BUCKETS_S,
  type GaugeName,
  type MetricName,
  type MetricSample,
  metrics,
} from './metrics.ts';
import type { MonitoredProcess } from './monitored-process.ts';

export interface Exposition {
  readonly contentType: string;
  /** The text of one scrape. Without a warehouse it contains the other metrics, and does not reject. */
  readonly text: () => Promise<string>;
  readonly close: () => void;
}

/** The shortest time between two readings; scrapes in between get the same figures. */
const KEPT_MS = 5_000;
/** Reading takes at most this fraction (1 / 20) of the time, however large the ledger is. */
const PART_OF_TIME = 20;
/** A scrape waits this long for new figures, and then gets the old ones. */
const PATIENCE_MS = 3_000;
/** How far back before the previous reading each reading looks for ends of runs: clocks differ, and commits can be late. */
const LOOK_BACK_MS = 3_600_000;

/** The metrics of the monitored process and its warehouse. */
export function openExposition(monitored: MonitoredProcess): Exposition {
  const registry = new Registry();
  const gauges = new Map<MetricName, Gauge>();
  for (const [name, { help, labels }] of Object.entries(metrics))
    if (name !== DURATION)
      gauges.set(name as MetricName, new Gauge({ name, help, labelNames: [...labels], registers: [registry] }));
  const durations = durationsOf(registry, monitored.now());
  // A separate registry: clearing it ends the observers of the process.
  const own = new Registry();
  collectDefaultMetrics({ register: own });

  const publish = (name: GaugeName, samples: readonly MetricSample[]): void => {
    const gauge = gauges.get(name);
    gauge?.reset();
    // The reset gives a gauge without labels the value 0, which looks like a figure.
    if (samples.length === 0 && metrics[name].labels.length === 0) gauge?.remove();
    for (const { labels, value } of samples) gauge?.set(labelled(metrics[name].labels, labels), value);
  };
  publish('sluice_build_info', [{ labels: [monitored.version, monitored.role], value: 1 }]);
  // Unknown until a reading shows them.
  publish('sluice_points_left', []);
  publish('sluice_points_left_timestamp_seconds', []);
  let readAt = Number.NEGATIVE_INFINITY;
  let previous = monitored.now();
  let keptMs = 0;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const startedAt = monitored.now();
    try {
      const figures = await readFigures(monitored.warehouse, {
        now: startedAt,
        endedSince: new Date(previous.getTime() - LOOK_BACK_MS),
        tags: monitored.tags ?? [],
      });
      for (const name of gauges.keys()) {
        const samples = figures.samples[name as GaugeName];
        if (samples) publish(name as GaugeName, samples);
      }
      durations(figures.ended);
      previous = startedAt;
      publish('sluice_figures_timestamp_seconds', [{ labels: [], value: startedAt.getTime() / 1000 }]);
      publish('sluice_warehouse_up', [{ labels: [], value: 1 }]);
    } catch {
      // The error is not published, because it may contain private data. The code that works with the warehouse reports it.
      publish('sluice_warehouse_up', [{ labels: [], value: 0 }]);
    } finally {
      readAt = monitored.now().getTime();
      keptMs = Math.max(KEPT_MS, (readAt - startedAt.getTime()) * PART_OF_TIME);
      reading = undefined;
    }
  };
  const refresh = async (): Promise<void> => {
    if (!reading && monitored.now().getTime() - readAt < keptMs) return;
    reading ??= read();
    await withTimeout(reading, PATIENCE_MS, monitored.sleep);
  };

  return {
    contentType: registry.contentType,
    text: async () => {
      await refresh();
      const queues = await withTimeout(Promise.resolve(monitored.queues?.() ?? []), PATIENCE_MS, monitored.sleep).catch(
        () => undefined,
      );
      if (queues)
        publish(
          'sluice_queue_jobs',
          queues.map(({ queue, state, jobs }) => ({ labels: [queue, state], value: jobs })),
        );
      return `${await registry.metrics()}\n${await own.metrics()}`;
    },
    close: () => {
      own.clear();
      registry.clear();
    },
  };
}

/** A function that observes each end of a run since this process started, once. */
function durationsOf(registry: Registry, startedAt: Date): (ended: Figures['ended']) => void {
  const { help, labels } = metrics[DURATION];
  const histogram = new Histogram({
    name: DURATION,
    help,
    labelNames: [...labels],
    buckets: [...DURATION_BUCKETS_S],
    registers: [registry],
  });
  let seen: ReadonlySet<string> | undefined;
  return (ended) => {
    const keys = new Set<string>();
    for (const { id, sync, endedAt, seconds } of ended) {
      const key = `${id} ${endedAt.getTime()}`;
      keys.add(key);
      const isNew = seen ? !seen.has(key) : endedAt >= startedAt;
      if (isNew) histogram.observe({ sync }, seconds);
    }
    seen = keys;
  };
}

const labelled = (names: readonly string[], values: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
