/** `sluice ui`: serves the local web console until a signal ends it. */
import { once } from 'node:events';
import { command, configOption, text } from '../../command.ts';
import { readConfig } from '../../open.ts';
import { showGenerated } from '../../terminal/show.ts';
import { configFlag } from '../plan/config-flag.ts';

export const ui = command({
  about:
    'Serve a local web console until a signal ends the command, and print its address. Its pages show the syncs and what needs attention, runs, requests with their answers, ' +
    'costs, coverage, quarantine, tables, results of read-only SQL, and what the next sync would request and cost.\n\n' +
    'The console only reads: it changes nothing, sends nothing to the service, and needs no token. It opens an embedded warehouse for each page, so that syncs can run meanwhile. ' +
    'Only this machine can reach it; from another machine, use an SSH tunnel.',
  options: {
    ...configOption,
    listen: text(
      'HOST:PORT',
      'Loopback address to listen on (default: 127.0.0.1:8790 if free, otherwise a free port).',
    ),
  },
  positionals: {},
  examples: [
    { line: 'sluice ui', about: 'Serve the console, and print its address.' },
    { line: 'sluice ui --listen 127.0.0.1:9000', about: 'Serve it on another port.' },
  ],
  run: async ({ config: flag, listen }, context) => {
    const [{ consoleAddressOf }, { serveConsole }, { consoleSource }] = await Promise.all([
      import('../../../ui/console-address.ts'),
      import('../../../ui/serve.ts'),
      import('./console-source.ts'),
    ]);
    const address = listen === undefined ? undefined : consoleAddressOf(listen);
    const config = await readConfig(context, flag);
    const running = await serveConsole(address, consoleSource(context, config, configFlag({ config: flag })));
    showGenerated(context, 'ui/1', { url: running.url }, () => `${running.url}\n`);
    context.log.info(`the console listens on ${running.url}; Ctrl-C ends it`);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    await running.close();
    return 0;
  },
});
