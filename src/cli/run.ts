/** Runs one command line and returns its exit code. Never throws. */
import { EXIT } from '../errors.ts';
import { isCi } from './terminal/ci.ts';
import type { Command, CommandSummary } from './command.ts';
import { commands, loaded } from './commands.ts';
import type { Context, Host } from './context.ts';
import { addEnvFile } from './env-file.ts';
import { type Failure, failureOf, failureText } from './text/failure.ts';
import { interruptionOf } from './exit-codes.ts';
import { packageVersion } from './package.ts';
import { parseCommandLine } from './program.ts';
import { logged } from './terminal/json.ts';
import { createStatusLine } from './terminal/status-line.ts';

/** Width of the help without a terminal. */
const HELP_COLUMNS = 100;

/** The exit code of the command that these words name. */
export async function runCommandLine(words: readonly string[], host: Host): Promise<number> {
  try {
    const named = await Promise.all(commands.map(async (it) => (words.includes(it.name) ? loaded(it) : it)));
    const parsed = parseCommandLine(words, named);
    if (parsed.kind !== 'run') {
      host.out.write(parsed.kind === 'version' ? `${packageVersion()}\n` : await helpOf(named, parsed.command, host));
      return EXIT.complete;
    }
    const envFile = parsed.args['env-file'];
    if (typeof envFile === 'string') await addEnvFile(host, envFile);
    return await runCommand(parsed.command, parsed.args, host);
  } catch (error) {
    return await reportFor(words, error, host);
  }
}

async function helpOf(
  named: readonly (Command | CommandSummary)[],
  command: Command | undefined,
  { out }: Host,
): Promise<string> {
  const { helpText } = await import('./help.ts');
  return helpText(named, out.columns ?? HELP_COLUMNS, command);
}

/** Writes the failure to standard error, as JSON if the words request that, and returns its exit code. */
export const reportFor = (
  words: readonly string[],
  error: unknown,
  host: Pick<Host, 'err' | 'redactor' | 'now'>,
): Promise<number> => {
  const isJson = words.includes('--json') && !host.err.isTerminal;
  return report(failureOf(error, host.redactor.redact), host, { isJson, verbose: words.includes('--verbose') });
};

async function report(
  failure: Failure,
  { err, redactor, now }: Pick<Host, 'err' | 'redactor' | 'now'>,
  { isJson, verbose }: { readonly isJson: boolean; readonly verbose: boolean },
): Promise<number> {
  const { message, next, exitCode, retryable, stack } = failure;
  if (isJson) {
    const { createLog } = await import('../telemetry/log.ts');
    const log = createLog({ style: 'json', level: 'error', write: err.write, redact: redactor.redact, now });
    const facts = { exitCode, retryable, ...(next !== '' && { next }), ...(verbose && { stack }) };
    log.error(message, logged('error/1', facts));
  } else err.write(failureText(failure, verbose));
  return exitCode;
}

type Said = Readonly<Record<string, unknown>>;

async function runCommand(command: Command, args: Said, host: Host): Promise<number> {
  const context = await contextOf(command, args, host);
  const logInterruption = (): void => context.log.warn(interruptionOf(host.signal)?.message ?? 'ending in order');
  host.signal.addEventListener('abort', logInterruption, { once: true });
  try {
    const exitCode = await command.run(args, context);
    return interruptionOf(host.signal)?.exitCode ?? exitCode;
  } catch (error) {
    const interruption = interruptionOf(host.signal);
    if (interruption && (error === interruption || isAbort(error))) return interruption.exitCode;
    context.status.clear();
    const { toUserError } = await import('../warehouse/connect/retry-transient.ts');
    const failure = failureOf(toUserError(error), host.redactor.redact);
    const isRead = context.json && !host.err.isTerminal;
    const isJson = isRead || logStyle(command, host) === 'json';
    return await report(failure, host, { isJson, verbose: args['verbose'] === true });
  } finally {
    host.signal.removeEventListener('abort', logInterruption);
    context.status.clear();
  }
}

async function contextOf(command: Command, args: Said, host: Host): Promise<Context> {
  // Imported here: the help needs no log, and is faster without it.
  const { createLog } = await import('../telemetry/log.ts');
  const quiet = args['quiet'] === true;
  const style = logStyle(command, host);
  const status = createStatusLine(host.err);
  const log = createLog({
    style,
    level: quiet ? 'warn' : args['verbose'] === true ? 'debug' : 'info',
    write: (line) => status.around(() => host.err.write(line)),
    redact: host.redactor.redact,
    now: host.now,
  });
  const progressStyle = quiet ? 'none' : rewrites(host) ? 'live' : style === 'json' ? 'facts' : 'lines';
  return { ...host, command: command.name, json: args['json'] === true, log, progressStyle, status };
}

/** `json` if a log collector reads the output of a long-running command: neither a terminal nor a CI job, which people read. */
function logStyle(command: Command, { err, env }: Host): 'json' | 'plain' {
  return command.logs === true && !err.isTerminal && !isCi(env) ? 'json' : 'plain';
}

/** True if lines can be rewritten. Some CI systems give their jobs a terminal, but record its output as it is. */
const rewrites = ({ err, env }: Host): boolean => err.isTerminal && !isCi(env) && env['TERM'] !== 'dumb';

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';
