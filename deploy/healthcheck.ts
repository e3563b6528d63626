/**
 * The container's health check: asks /healthz where process 1 listens by `--listen HOST:PORT`, and is content where it
 * does not, as in a one-shot `sync`. Exit code 0 is healthy, 1 is not. Whoever runs it ends it when it takes too long.
 */
import { readFileSync } from 'node:fs';

/** An address for every interface is none to connect to. */
const REACHED_AT: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };
const FLAG = '--listen';

// Another process can be named, for tests.
const [, , commandLine = '/proc/1/cmdline'] = process.argv;

try {
  const words = readFileSync(commandLine, 'utf8').split('\0');
  const [place] = words.flatMap((word, at) =>
    word === FLAG ? [words[at + 1] ?? ''] : word.startsWith(`${FLAG}=`) ? [word.slice(FLAG.length + 1)] : [],
  );
  if (place !== undefined) await ask(place);
} catch (error) {
  const { message, cause } = error as Error;
  process.stderr.write(`unhealthy: ${cause instanceof Error ? cause.message : message}\n`);
  process.exitCode = 1;
}

async function ask(place: string): Promise<void> {
  const url = new URL(`http://${place}/healthz`);
  url.hostname = REACHED_AT[url.hostname] ?? url.hostname;
  const { ok, status } = await fetch(url, { redirect: 'error' });
  if (!ok) throw new Error(`${url.href} answers ${status}`);
}
