/** The metrics as Prometheus reads them: figures of the warehouse, read again after a few seconds, and those of this process. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from './with-timeout.ts';
import { type Figures, type MetricSample, readFigures } from './figures.ts';
import { DURATION, DURATION_BUCKETS_S, type GaugeName, type MetricName, metrics } from './metrics.ts';
import type { MonitoredProcess } from './monitored-process.ts';

export interface Exposition {
  readonly contentType: string;
  /** The text of one scrape. Rejects never for want of a warehouse: then the rest is told. */
  readonly text: () => Promise<string>;
  readonly close: () => void;
}

/** Scrapes that come sooner are told the same. */
const KEPT_MS = 5_000;
/** Reading takes at most one part in so many of the time, however large the ledger is. */
const PART_OF_TIME = 20;
/** A scrape waits so long for new figures, then it is told the old ones. */
const PATIENCE_MS = 3_000;
/** Ends of runs are looked for so far back, since clocks differ and commits come late. */
const LOOK_BACK_MS = 3_600_000;

/** Metrics of what is watched. */
export function openExposition(it: MonitoredProcess): Exposition {
  const registry = new Registry();
  const gauges = new Map<MetricName, Gauge>();
  for (const [name, { help, labels }] of Object.entries(metrics))
    if (name !== DURATION)
      gauges.set(name as MetricName, new Gauge({ name, help, labelNames: [...labels], registers: [registry] }));
  const durations = durationsOf(registry, it.now());
  // Their own registry, so that leaving off ends what observes the process.
  const own = new Registry();
  collectDefaultMetrics({ register: own });

  const tell = (name: GaugeName, samples: readonly MetricSample[]): void => {
    const gauge = gauges.get(name);
    gauge?.reset();
    for (const { labels, value } of samples) gauge?.set(labelled(metrics[name].labels, labels), value);
  };
  tell('sluice_build_info', [{ labels: [it.version, it.role], value: 1 }]);
  let readAt = Number.NEGATIVE_INFINITY;
  let keptMs = 0;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const startedAt = it.now();
    try {
      const figures = await readFigures(it.warehouse, startedAt, new Date(startedAt.getTime() - LOOK_BACK_MS));
      for (const name of gauges.keys()) {
        const samples = figures.samples[name as GaugeName];
        if (samples) tell(name as GaugeName, samples);
      }
      durations(figures.ended);
      tell('sluice_figures_timestamp_seconds', [{ labels: [], value: startedAt.getTime() / 1000 }]);
      tell('sluice_warehouse_up', [{ labels: [], value: 1 }]);
    } catch {
      // What is wrong with it is told by who works with it; here it may hold what is nobody's business.
      tell('sluice_warehouse_up', [{ labels: [], value: 0 }]);
    } finally {
      readAt = it.now().getTime();
      keptMs = Math.max(KEPT_MS, (readAt - startedAt.getTime()) * PART_OF_TIME);
      reading = undefined;
    }
  };
  const refresh = async (): Promise<void> => {
    if (!reading && it.now().getTime() - readAt < keptMs) return;
    reading ??= read();
    await withTimeout(reading, PATIENCE_MS, it.sleep);
  };

  return {
    contentType: registry.contentType,
    text: async () => {
      await refresh();
      const queues = await withTimeout(Promise.resolve(it.queues?.() ?? []), PATIENCE_MS, it.sleep).catch(
        () => undefined,
      );
      if (queues)
        tell(
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

/** Observes each end of a run once, of those since this process started. */
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
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));
