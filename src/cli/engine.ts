/** Runs a long-running role (`schedule` or `worker`) from the command line: its log, its results, and its end. */
import type { EndedSync } from '../alerts/conditions.ts';
import type { AlertEffects } from '../alerts/send-alerts.ts';
import type { Config } from '../config/definition.ts';
import { declaredTags } from '../config/values/tags.ts';
import type { EngineEvent } from '../engine/handle.ts';
import type { ServeOptions } from '../engine/serve.ts';
import { EXIT } from '../errors.ts';
import type { HttpServer } from '../monitor/http-server.ts';
import type { MonitoredProcess, QueueDepth } from '../monitor/monitored-process.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { type Arguments, number, type Options, text } from './command.ts';
import type { Context } from './context.ts';
import { asJsonLine, versioned } from './terminal/json.ts';
import { packageVersion } from './package.ts';
import { withFlow } from './with-flow.ts';
import { withRetryable } from './exit-codes.ts';

/** Options of both roles. */
export const engineOptions = {
  calls: number('CALLS', 'Maximum number of concurrent requests of this process (default: service.in_flight).', {
    min: 1,
  }),
  chunk: number(
    'REQUESTS',
    'Maximum number of requests in a chunk (default: 250). Larger runs are split into chunks that workers share.',
    { min: 1 },
  ),
  listen: text(
    'HOST:PORT',
    'Address of /healthz, /readyz and /metrics (default: 127.0.0.1:9464 if free); off disables them.',
  ),
} as const satisfies Options;

/** The values of these options. */
export type EngineArguments = Arguments<typeof engineOptions, {}>;

/** Runs until the signal aborts. With --json, it prints the summary of each run that ends here as one line of JSON. */
export async function runEngine(
  context: Context,
  config: Config,
  role: ServeOptions['role'],
  { calls, chunk, listen }: EngineArguments,
): Promise<void> {
  const [{ serve }, { listenAddressOf }, { openAlertSender }] = await Promise.all([
    import('../engine/serve.ts'),
    import('../monitor/listen-address.ts'),
    import('../alerts/sender.ts'),
  ]);
  // Checked first, so that an invalid address opens or creates no warehouse.
  if (listen !== undefined) listenAddressOf(listen);
  const { sleep, signal, log, env, redactor } = context;
  await withFlow(context, config, async (warehouse, effects) => {
    const { now, onNotice } = effects;
    const monitor = await monitorOf(context, warehouse, { role, tags: declaredTags(config) }, listen);
    const options = { role, calls, chunkSize: chunk };
    try {
      const scheduledPoints = await scheduledPointsOf(config, warehouse);
      const delivery = { now, sleep, env, redact: redactor.redact, onNotice };
      const alerts = openAlertSender(
        config,
        warehouse,
        scheduledPoints === undefined ? delivery : { ...delivery, scheduledPoints },
      );
      await serve(
        config,
        warehouse,
        options,
        {
          ...effects,
          onEvent: (event) => {
            logEvent(context, event);
            const ended = endedBy(event, config);
            if (ended) alerts.report(ended);
          },
          onReady: (reconciled) => {
            const { scheduled = [], unscheduled = [] } = reconciled ?? {};
            log.info(`${role} is ready`, {
              warehouse: warehouse.place,
              ...(monitor && { health: monitor.url }),
              ...(scheduled.length > 0 && { scheduled }),
              ...(unscheduled.length > 0 && { unscheduled }),
            });
          },
          onError: errorLogger(context),
        },
        signal,
      );
      await alerts.close();
    } finally {
      await monitor?.close();
    }
  });
}

/** The forecast of the schedules for alerts; undefined if no sync has one. */
async function scheduledPointsOf(config: Config, warehouse: Warehouse): Promise<AlertEffects['scheduledPoints']> {
  if (!config.alerts || !config.syncs.some(({ schedule }) => schedule)) return undefined;
  const [{ keepScheduledPoints }, { scheduledCosts }, { firingsUntil }] = await Promise.all([
    import('../alerts/scheduled-points.ts'),
    import('../flow/forecast/scheduled-cost.ts'),
    import('../engine/firings.ts'),
  ]);
  const { now } = warehouse.clock;
  return keepScheduledPoints((until) => scheduledCosts(warehouse, config, { now: now(), until, firingsUntil }), now);
}

/** Starts the server for health and metrics of this process. */
async function monitorOf(
  { sleep, signal, log }: Context,
  warehouse: Warehouse,
  described: Pick<MonitoredProcess, 'role' | 'tags'>,
  listen: string | undefined,
): Promise<HttpServer | undefined> {
  const [{ startMonitor }, { readEngineStatus }] = await Promise.all([
    import('../monitor/monitor.ts'),
    import('../engine/status.ts'),
  ]);
  const { now } = warehouse.clock;
  const queues = async (): Promise<QueueDepth[]> => {
    const engineStatus = await readEngineStatus(warehouse);
    const { queues: each = [], givenUpJobs = 0 } = engineStatus ?? {};
    return [
      ...each.flatMap(({ queue, waiting, later, atWork }) =>
        Object.entries({ waiting, later, at_work: atWork }).map(([state, jobs]) => ({ queue, state, jobs })),
      ),
      { queue: 'dead', state: 'waiting', jobs: givenUpJobs },
    ];
  };
  const monitored = {
    warehouse,
    version: packageVersion(),
    ...described,
    isDraining: () => signal.aborted,
    queues,
    now,
    sleep,
  };
  return startMonitor(listen, monitored, (message) => log.warn(message));
}

/** How a sync ended, if the event is the end of a sync; otherwise undefined. */
export function endedBy(event: EngineEvent, { syncs }: Pick<Config, 'syncs'>): EndedSync | undefined {
  if (event.kind === 'run ended') return event.summary;
  if (event.kind === 'had ended') return { ...event.run, next: null };
  if (event.kind === 'died') {
    const { sync, endpoint, runId, because } = event.run;
    const next = `Run sluice sync ${sync}, or wait for its next firing.`;
    return { sync, endpoint, runId, state: 'interrupted', exitCode: EXIT.transient, error: because, next };
  }
  if (event.kind !== 'failed' && event.kind !== 'lost') return undefined;
  const { sync } = event.job;
  const endpoint = syncs.find(({ name }) => name === sync)?.endpoint.name ?? '';
  const ended = { sync, endpoint, runId: null, state: 'failed', exitCode: EXIT.bug } as const;
  const [error = ''] = event.because.split('\n');
  return {
    ...ended,
    error,
    next: event.kind === 'lost' ? `Fix the cause, then run sluice schedule --redrive ${sync}.` : null,
  };
}

function logEvent({ log, out, json: asJson }: Context, event: EngineEvent): void {
  switch (event.kind) {
    case 'begun': {
      const { job } = event;
      return log.info(job.kind === 'sync' ? 'sync begins' : 'chunk begins', {
        sync: job.sync,
        ...(job.kind === 'chunk' && { run: job.runId, chunk: job.chunk }),
      });
    }
    case 'run ended': {
      const { summary } = event;
      const { sync, state, exitCode, planned, sent, loaded, points, tookMs, error } = summary;
      const facts = { sync, state, exitCode, planned, sent, loaded, points, tookMs, ...(error !== null && { error }) };
      log[exitCode === 0 ? 'info' : 'warn']('run ended', facts);
      if (asJson) out.write(asJsonLine(versioned('run/1', withRetryable(summary))));
      return undefined;
    }
    case 'had ended': {
      const { sync, runId: run, state, exitCode } = event.run;
      return log.info('run had ended before', { sync, run, state, exitCode });
    }
    case 'shared':
      return log.info('run is shared in chunks', { sync: event.sync });
    case 'waits':
      return log.info('sync waits', { sync: event.sync, because: event.because, seconds: event.seconds });
    case 'given up':
      return log.error('job given up; sluice schedule --redrive requeues it', {
        sync: event.job.sync,
        exitCode: event.job.exitCode,
        because: event.job.because,
      });
    case 'died':
      return log.error('run interrupted', {
        sync: event.run.sync,
        run: event.run.runId,
        because: event.run.because,
      });
    case 'lost':
      return log.error('job given up; sluice schedule --redrive requeues it', {
        sync: event.job.sync,
        because: event.because,
      });
    case 'failed':
      return log.error('job failed and will be retried', { sync: event.job.sync, because: event.because });
  }
}

const SAME_ERROR_EVERY_MS = 60_000;
/** What pg-boss adds to the error of a poll: each queue has several pollers, and each of them fails every second. */
const OF_A_POLLER = / \(Queue: [^()]*, Worker: [^()]*\)$/;

/** Logs the same error, such as an unavailable database, at most once a minute and not at every poll for a job. */
export function errorLogger({ log, now }: Pick<Context, 'log' | 'now'>): (error: Error) => void {
  const loggedAtMs = new Map<string, number>();
  return ({ message }) => {
    const atMs = now().getTime();
    const because = message.replace(OF_A_POLLER, '');
    if (atMs - (loggedAtMs.get(because) ?? Number.NEGATIVE_INFINITY) < SAME_ERROR_EVERY_MS) return;
    // Messages may hold ports and ids, so that old ones would add up.
    for (const [old, oldMs] of loggedAtMs) if (atMs - oldMs >= SAME_ERROR_EVERY_MS) loggedAtMs.delete(old);
    loggedAtMs.set(because, atMs);
    log.warn('error in the queues; the process continues', { because });
  };
}
