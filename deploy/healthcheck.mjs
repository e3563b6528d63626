/**
 * The container's health check: asks /healthz where process 1 listens by `--listen HOST:PORT`, and is content where it
 * does not, as in a one-shot `sync`. Exit code 0 is healthy, 1 is not.
 */
import { readFileSync } from 'node:fs';

const ANSWER_WITHIN_MS = 4_000;
/** An address for every interface is none to connect to. */
const REACHED_AT = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };

// Another process can be named, for tests.
const [, , commandLine = '/proc/1/cmdline'] = process.argv;

try {
  const words = readFileSync(commandLine, 'utf8').split('\0');
  const place = words.flatMap((word, at) =>
    word === '--listen' ? [words[at + 1] ?? ''] : word.startsWith('--listen=') ? [word.slice(9)] : [],
  )[0];
  if (place !== undefined) {
    const url = new URL(`http://${place}/healthz`);
    url.hostname = REACHED_AT[url.hostname] ?? url.hostname;
    const { ok, status } = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    if (!ok) throw new Error(`${url.href} answers ${status}`);
  }
} catch (error) {
  process.stderr.write(`unhealthy: ${error.cause?.message ?? error.message}\n`);
  process.exitCode = 1;
}
