/** The sandbox: a local service that speaks the contract over a real socket. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { accountOf } from './account.ts';
import type { LoggedRequest } from './arrival.ts';
import type { Service } from './exchange.ts';
import type { Fault } from './fault.ts';
import { faultPlan } from './fault-plan.ts';
import { handle, type Memory } from './handle.ts';
import { type SandboxOptions, settingsOf } from './options.ts';
import { requestLog } from './request-log.ts';
import { type World, worldOf } from './world/world.ts';

export interface Sandbox {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly world: World;
  /** Ends every connection and whatever is under way. */
  close(): Promise<void>;
  /** Every request for an endpoint's path or an unknown one, in the order of arrival. */
  requests(): readonly LoggedRequest[];
  /** Points left. */
  points(): number;
  /** Replaces the script of faults; counting begins anew. */
  setFaults(faults: readonly Fault[]): void;
  setPoints(points: number): void;
  /** Refuses the token from now on. */
  revoke(): void;
}

/**
 * Starts a sandbox and resolves when it listens. The caller closes it.
 * Rejects with a UsageError when the size is none, and as `listen` does when the port is taken.
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
  const underWay = new Set<Promise<void>>();
  let ended: Promise<void> | undefined;

  const server = createServer((request, response) => {
    const handled = handle(service, memory, request, response)
      .catch(() => response.destroy())
      .then(() => undefined)
      .finally(() => underWay.delete(handled));
    underWay.add(handled);
  });
  // Longer than clients keep idle connections, so that none is closed under a request that is just being sent.
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
    await Promise.allSettled(underWay);
  }
}

/** A UUID that stands for the token in the log and tells nothing of it. */
function tokenIdOf(token: string): string {
  const hex = createHash('sha256').update(`sandbox token ${token}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
