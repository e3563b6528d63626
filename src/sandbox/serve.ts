/** The sandbox: a local service that implements the contract over a real socket. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { accountOf } from './account.ts';
import type { LoggedRequest } from './arrival.ts';
import type { Service } from './exchange.ts';
import { type Fault, faultPlan } from './fault.ts';
import { handle, type Memory } from './handle.ts';
import { type SandboxOptions, settingsOf } from './options.ts';
import { requestLog } from './request-log.ts';
import { type World, worldOf } from './world/world.ts';

export interface Sandbox {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly world: World;
  /** Closes all connections and stops running requests. */
  close(): Promise<void>;
  /** All requests for the path of an endpoint or for an unknown path, in the order of arrival. */
  requests(): readonly LoggedRequest[];
  /** Points left. */
  points(): number;
  /** Replaces the script of faults and restarts its counts. */
  setFaults(faults: readonly Fault[]): void;
  setPoints(points: number): void;
  /** Refuses the token from now on. */
  revoke(): void;
}

/**
 * Starts a sandbox and resolves when it listens. The caller closes it. Rejects with a UsageError for an invalid size,
 * and with the error of `listen` if the port is in use.
 */
export async function serveSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsOf(options);
  const closing = new AbortController();
  let plan = faultPlan(settings.faults, settings.seed);
  const service: Service = {
    settings,
    world: worldOf(settings.seed, settings.size, settings.now),
    account: accountOf(settings.token, settings.points),
    log: requestLog(tokenIdOf(settings.token), settings.logOrder, settings.logCursor),
    plan: () => plan,
    closing: closing.signal,
    sleep: (waitMs) => wait(waitMs, undefined, { signal: closing.signal }),
  };
  const memory: Memory = { arrivals: [], busy: 0 };
  const running = new Set<Promise<void>>();
  let ended: Promise<void> | undefined;

  const server = createServer((request, response) => {
    const handled = handle(service, memory, request, response)
      .catch(() => response.destroy())
      .then(() => undefined)
      .finally(() => running.delete(handled));
    running.add(handled);
  });
  // Longer than clients keep idle connections, so that the sandbox never closes one while a request is sent.
  server.keepAliveTimeout = 120_000;
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`,
    port,
    world: service.world,
    requests: () => memory.arrivals,
    points: () => service.account.left(),
    setFaults: (faults) => {
      plan = faultPlan(faults, settings.seed);
    },
    setPoints: (points) => service.account.setPoints(points),
    revoke: () => service.account.revoke(),
    close: () => (ended ??= end()),
  };

  async function end(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    closing.abort();
    server.closeAllConnections();
    await closed;
    await Promise.allSettled(running);
  }
}

/** A UUID that represents the token in the log without revealing it. */
function tokenIdOf(token: string): string {
  const hex = createHash('sha256').update(`sandbox token ${token}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
