/** Runs a long-running role from the command line: its log, its results, and its end. */
import type { Config } from '../config/definition.ts';
import type { EngineEvent } from '../engine/handle.ts';
import type { ServeOptions } from '../engine/serve.ts';
import type { Options } from './command.ts';
import type { Context } from './context.ts';
import { asJsonLine } from './json.ts';
import { withWarehouse } from './open.ts';
import { spoolFolder } from './spool.ts';
import { watched } from './watch.ts';

/** Options of both roles. */
export const engineOptions = {
  calls: {
    type: 'number',
    min: 1,
    value: 'CALLS',
    about: 'Most calls that this process has under way at once; else as many as service.in_flight allows.',
  },
  chunk: {
    type: 'number',
    min: 1,
    value: 'REQUESTS',
    about: 'Most requests of a chunk, into which larger runs are cut so that workers share them; else 250.',
  },
} as const satisfies Options;

/** What was said of them. */
export interface EngineSaid {
  readonly calls: number | undefined;
  readonly chunk: number | undefined;
}

/** Serves until the signal fires. With --json the summary of each run that ends here is a line of standard output. */
export async function runEngine(
  context: Context,
  config: Config,
  role: ServeOptions['role'],
  { calls, chunk }: EngineSaid,
): Promise<void> {
  const [{ serve }, { ensureSchema }, { openSpool }] = await Promise.all([
    import('../engine/serve.ts'),
    import('../warehouse/migrate.ts'),
    import('../ops/spool.ts'),
  ]);
  const { now, sleep, random, newId, signal, log } = context;
  await withWarehouse(context, config, async (warehouse) => {
    await ensureSchema(warehouse);
    const spool = openSpool({ folder: spoolFolder(context) });
    const options = { role, ...(calls !== undefined && { calls }), ...(chunk !== undefined && { chunkSize: chunk }) };
    await watched(context, (watch) =>
      serve(
        config,
        warehouse,
        options,
        {
          now,
          sleep,
          random,
          newId,
          spool,
          ...watch,
          onEvent: (event) => tell(context, event),
          onReady: (reconciled) => {
            const { scheduled = [], unscheduled = [] } = reconciled ?? {};
            log.info(`${role} is ready`, {
              warehouse: warehouse.place,
              ...(scheduled.length > 0 && { scheduled }),
              ...(unscheduled.length > 0 && { unscheduled }),
            });
          },
          onTrouble: troubleTeller(context),
        },
        signal,
      ),
    );
  });
}

function tell({ log, out, json: asJson }: Context, event: EngineEvent): void {
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
      if (asJson) out.write(asJsonLine(summary));
      return undefined;
    }
    case 'shared':
      return log.info('run is shared in chunks', { sync: event.sync });
    case 'waits':
      return log.info('sync waits', { sync: event.sync, because: event.because, seconds: event.seconds });
    case 'given up':
      return log.error('job given up; sluice schedule --redrive puts it back', {
        sync: event.job.sync,
        exitCode: event.job.exitCode,
        because: event.job.because,
      });
    case 'failed':
      return log.error('job failed and is tried again', { sync: event.job.sync, because: event.because });
  }
}

/** A database that is away is told once a minute, not at every look for a job. */
const TROUBLE_EVERY_MS = 60_000;

function troubleTeller({ log, now }: Context): (error: Error) => void {
  let told = { message: '', atMs: Number.NEGATIVE_INFINITY };
  return ({ message }) => {
    const atMs = now().getTime();
    if (message === told.message && atMs - told.atMs < TROUBLE_EVERY_MS) return;
    told = { message, atMs };
    log.warn('trouble with the queues, which go on', { because: message });
  };
}
