/** `sluice ui`: serves the local web console until a signal ends it. */
import { once } from 'node:events';
import type { Config } from '../../config/definition.ts';
import { embeddedFolder } from '../../config/values/paths.ts';
import type { ConsoleSource } from '../../ui/serve.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { readConfig, withWarehouseToRead } from '../open.ts';
import { configFlag } from './plan/config-flag.ts';
import { showGenerated } from '../terminal/show.ts';

/** Requests that may read a server at the same time. An embedded warehouse has one session. */
const READERS = 4;

export const ui = command({
  about:
    'Serve a local web console until a signal ends the command, and print its address. Its pages show the syncs and what needs attention, runs, requests with their answers, ' +
    'costs, coverage, quarantine, the tables, the result of read-only SQL, and what the next sync would request and cost.\n\n' +
    'The console only reads: it changes nothing, sends nothing to the service, and needs no token. It opens an embedded warehouse for each page, so that syncs can run meanwhile. ' +
    'It listens on this machine alone; from another machine, use an SSH tunnel.',
  options: {
    ...configOption,
    listen: {
      type: 'text',
      value: 'HOST:PORT',
      about: 'Loopback address to listen on (default: 127.0.0.1:8790 if free, otherwise a free port).',
    },
  },
  positionals: {},
  examples: [
    { line: 'sluice ui', about: 'Serve the console, and print its address.' },
    { line: 'sluice ui --listen 127.0.0.1:9000', about: 'Serve it on another port.' },
  ],
  run: async ({ config: flag, listen }, context) => {
    const [{ consoleAddressOf }, { serveConsole }] = await Promise.all([
      import('../../ui/console-address.ts'),
      import('../../ui/serve.ts'),
    ]);
    const address = listen === undefined ? undefined : consoleAddressOf(listen);
    const config = await readConfig(context, flag);
    const running = await serveConsole(address, await sourceOf(context, config, configFlag({ config: flag })));
    showGenerated(context, 'ui/1', { url: running.url }, () => `${running.url}\n`);
    context.log.info(`the console listens on ${running.url}; Ctrl-C ends it`);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    await running.close();
    return 0;
  },
});

async function sourceOf(context: Context, config: Config, flags: readonly string[]): Promise<ConsoleSource> {
  const [{ failureOf }, { toUserError }] = await Promise.all([
    import('../text/failure.ts'),
    import('../../warehouse/connect/retry-transient.ts'),
  ]);
  const { redact } = context.redactor;
  return {
    syncs: config.syncs,
    read: (work, signal) =>
      withWarehouseToRead({ ...context, signal: AbortSignal.any([context.signal, signal]) }, config, work),
    readers: embeddedFolder(config.warehouse.url.reveal()) === undefined ? READERS : 1,
    plan: (warehouse, names) => planned(warehouse, config, names, ['sluice sync', ...flags, ...names].join(' ')),
    redact,
    failureOf: (error) => failureOf(toUserError(error), redact),
    onFailure: ({ message, next }) => context.log.warn(message, { next }),
    now: context.now,
  };
}

/** The plan of these syncs with the text that `sluice plan` prints below its table. */
async function planned(warehouse: Warehouse, config: Config, names: readonly string[], syncCommand: string) {
  const [{ quoteSyncs, summarizePlan }, { planLines }] = await Promise.all([
    import('../../flow/forecast/quote-syncs.ts'),
    import('../text/plan-text.ts'),
  ]);
  const now = warehouse.clock.now();
  const quoted = await quoteSyncs(warehouse, config, names, { refresh: false }, now);
  const plan = await summarizePlan(warehouse, config, quoted, now);
  return { planned: plan, lines: planLines(plan, { syncCommand, budget: config.budget }) };
}
