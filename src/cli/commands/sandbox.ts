/** `sluice sandbox`: the local emulator of the service, till a signal ends it. */
import { once } from 'node:events';
import { UsageError } from '../../errors.ts';
import type { Sandbox } from '../../sandbox/serve.ts';
import type { SandboxOptions } from '../../sandbox/options.ts';
import { command } from '../command.ts';
import { asJson } from '../terminal/json.ts';

const DEFAULT_PORT = 8787;
const DEFAULT_HOST = '127.0.0.1';

export const sandbox = command({
  about:
    'Serves every endpoint from a made-up world, prices and logs each request as the service would, and runs until a signal ends it. ' +
    'Prints its address and the variables to set where syncs run. Equal seeds make equal worlds. ' +
    'A fault is KIND[=VALUE][:RATE][@NTH][/ENDPOINT]: a status such as 503 (429=2 also sends Retry-After: 2), slow=MS, cut[=BYTES], ' +
    'reset[=before|headers|body], malformed, html, empty, out-of-points[=401|402|403] or revoked; several are parted by commas.',
  options: {
    port: {
      type: 'number',
      value: 'PORT',
      about: `Port to listen on; 0 takes a free one. ${DEFAULT_PORT} unless given.`,
    },
    host: {
      type: 'text',
      value: 'HOST',
      about: `Address to listen on; ${DEFAULT_HOST}, which only this machine reaches, unless given.`,
    },
    seed: { type: 'number', value: 'N', about: 'The world and the faults; 1 unless given.' },
    size: { type: 'text', value: 'SIZE', about: 'demo, small or large; demo unless given.' },
    faults: { type: 'text', value: 'LIST', about: 'What goes wrong, such as 503:0.05,slow=2000:0.1.' },
    points: { type: 'number', value: 'POINTS', about: 'The balance at the start; it never runs out unless given.' },
    token: { type: 'text', value: 'TOKEN', about: 'The one token that is accepted; it is no secret.' },
    latency: { type: 'number', value: 'MS', about: 'How long each answer takes; no time unless given.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice sandbox', about: 'On the port that the shipped configs name.' },
    { line: 'sluice sandbox --port 0 --latency 200', about: 'On a free port, as slow as a service far away.' },
    {
      line: 'sluice sandbox --faults 503:5%,cut:1%,out-of-points@200',
      about: 'Now and then failing, and out of points in the end.',
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
    context.out.write(context.json ? asJson({ url, token }) : `${exportLines(url, token)}\n`);
    context.log.info(`the sandbox listens on ${url}; Ctrl-C ends it`);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    await running.close();
    return 0;
  },
});

/** What a shell takes to send syncs there. */
const exportLines = (url: string, token: string): string =>
  `export SLUICE_SERVICE_URL=${url}\nexport SLUICE_SERVICE_TOKEN=${quoted(token)}`;

const quoted = (text: string): string => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Why a port can't be listened on, by what the system says. */
const UNFIT: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has it',
  EACCES: 'this account may not',
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
    const place = options.host === DEFAULT_HOST ? '' : ` of ${options.host ?? ''}`;
    throw new UsageError(`sandbox: port ${options.port ?? 0}${place} can’t be listened on: ${because} (${code})`, {
      next: 'Name another with --port or --host; --port 0 takes a free one.',
      cause,
    });
  }
}
