/** `sluice sandbox`: runs the local emulator of the service until a signal ends it. */
import { once } from 'node:events';
import { UsageError } from '../../errors.ts';
import type { Sandbox } from '../../sandbox/serve.ts';
import type { SandboxOptions } from '../../sandbox/options.ts';
import { command, number, text } from '../command.ts';
import { asJson, versioned } from '../terminal/json.ts';
import { shellWord } from '../terminal/shell-word.ts';

const DEFAULT_PORT = 8787;
const DEFAULT_HOST = '127.0.0.1';

export const sandbox = command({
  about:
    'Serve every endpoint with generated data, and price and log each request like the service, until a signal ends the command. ' +
    'Print the address and the variables to set for syncs. The same seed generates the same data.\n\n' +
    'A fault is KIND[=VALUE][:RATE][@NTH][/ENDPOINT]. KIND is a status such as 503 (429=2 also sends Retry-After: 2), slow=MS, cut[=BYTES], ' +
    'reset[=before|headers|body], malformed, html, empty, out-of-points[=401|402|403] or revoked. Commas separate several faults.',
  options: {
    port: number('PORT', `Port to listen on (default: ${DEFAULT_PORT}); 0 uses a free port.`),
    host: text('HOST', `Address to listen on (default: ${DEFAULT_HOST}, which only this machine can reach).`),
    seed: number('N', 'Seed of the data and the faults (default: 1).'),
    size: text('SIZE', 'Size of the data: demo (the smallest), small or large (default: demo).'),
    faults: text('LIST', 'Faults to inject, such as 503:0.05,slow=2000:0.1.'),
    points: number(
      'POINTS',
      'Balance at the start (default: unlimited). Without it, the log shows no balance, and budget.keep refuses every request.',
    ),
    token: text('TOKEN', 'The only token that is accepted; it is not secret.'),
    latency: number('MS', 'Delay of each answer (default: 0).'),
  },
  positionals: {},
  examples: [
    { line: 'sluice sandbox', about: 'Run on the port that the shipped configs use.' },
    {
      line: 'sluice sandbox --port 0 --latency 200',
      about: 'Run on a free port, with the latency of a distant service.',
    },
    {
      line: 'sluice sandbox --faults 503:5%,cut:1%,out-of-points@200',
      about: 'Fail now and then, and run out of points at request 200.',
    },
  ],
  run: async ({ port = DEFAULT_PORT, host = DEFAULT_HOST, ...args }, context) => {
    const [{ serveSandbox }, { parseFaults }, { SANDBOX_TOKEN }] = await Promise.all([
      import('../../sandbox/serve.ts'),
      import('../../sandbox/fault-text.ts'),
      import('../../sandbox/world/known.ts'),
    ]);
    const token = args.token ?? SANDBOX_TOKEN;
    const running = await listening(serveSandbox, {
      port,
      host,
      token,
      ...(args.seed !== undefined && { seed: args.seed }),
      ...(args.size !== undefined && { size: args.size as NonNullable<SandboxOptions['size']> }),
      ...(args.faults !== undefined && { faults: parseFaults(args.faults) }),
      ...(args.points !== undefined && { points: args.points }),
      ...(args.latency !== undefined && { latencyMs: args.latency }),
    });
    const { url } = running;
    context.out.write(context.json ? asJson(versioned('sandbox/1', { url, token })) : `${exportLines(url, token)}\n`);
    context.log.info(`the sandbox listens on ${url}; Ctrl-C ends it`);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    await running.close();
    return 0;
  },
});

/** The shell commands that make syncs use the sandbox. */
const exportLines = (url: string, token: string): string =>
  `export SLUICE_SERVICE_URL=${url}\nexport SLUICE_SERVICE_TOKEN=${shellWord(token)}`;

/** Why a port is not available, by error code of the system. */
const UNFIT: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process uses it',
  EACCES: 'this account may not use it',
  ERR_SOCKET_BAD_PORT: 'allowed are 0 to 65535',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'there is no such host',
};

async function listening(
  serve: (options: SandboxOptions) => Promise<Sandbox>,
  options: SandboxOptions,
): Promise<Sandbox> {
  try {
    return await serve(options);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const because = code === undefined ? undefined : UNFIT[code];
    if (because === undefined) throw cause;
    const suffix = options.host === DEFAULT_HOST ? '' : ` of ${options.host ?? ''}`;
    throw new UsageError(`sandbox: port ${options.port ?? 0}${suffix} is not available: ${because} (${code})`, {
      next: 'Set another with --port or --host; --port 0 uses a free port.',
      cause,
    });
  }
}
