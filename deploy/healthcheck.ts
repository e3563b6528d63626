/**
 * The container's health check: requests /healthz from process 1 if its command line has `--listen HOST:PORT`. A process
 * that does not listen, such as a one-shot `sync` or one with `--listen off`, is healthy. Exit code 0 is healthy, 1 is not. The container runtime limits the
 * time of the check.
 */
import { readFileSync } from 'node:fs';

/** Loopback addresses in place of the wildcard addresses, to which a client cannot connect. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };
const FLAG = '--listen';

// Tests name the file of another process.
const [, , commandLine = '/proc/1/cmdline'] = process.argv;

try {
  const args = readFileSync(commandLine, 'utf8').split('\0');
  const [address] = args.flatMap((arg, index) =>
    arg === FLAG ? [args[index + 1] ?? ''] : arg.startsWith(`${FLAG}=`) ? [arg.slice(FLAG.length + 1)] : [],
  );
  if (address !== undefined && address !== 'off') await assertHealthy(address);
} catch (error) {
  const { message, cause } = error as Error;
  process.stderr.write(`unhealthy: ${cause instanceof Error ? cause.message : message}\n`);
  process.exitCode = 1;
}

async function assertHealthy(address: string): Promise<void> {
  const url = new URL(`http://${address}/healthz`);
  url.hostname = LOOPBACK[url.hostname] ?? url.hostname;
  const { ok, status } = await fetch(url, { redirect: 'error' });
  if (!ok) throw new Error(`${url.href} answers ${status}`);
}
