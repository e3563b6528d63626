/** Tells of a long-running process over HTTP: `/healthz`, `/readyz` and `/metrics`. */
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { openExposition } from './exposition.ts';
import { listenAddressOf, USUAL_ADDRESS } from './listen-address.ts';
import { openReadiness } from './readiness.ts';
import { type MonitorServer, serve } from './server.ts';

/** Jobs of one queue that stand alike. */
export interface QueueDepth {
  /** A name of the program or of the config; never an id. */
  readonly queue: string;
  readonly state: string;
  readonly jobs: number;
}

/** The process that is told of. */
export interface Watched {
  readonly warehouse: Pick<Warehouse, 'kind' | 'db' | 'schema' | 'ops'>;
  readonly version: string;
  /** What the process does, such as `worker`. */
  readonly role: string;
  /** Whether it takes nothing new because it is about to end. */
  readonly isDraining: () => boolean;
  /** Why its own loop does not turn any more, in words without secrets; undefined while it does. */
  readonly stuckBecause?: () => string | undefined;
  readonly queues?: () => Promise<readonly QueueDepth[]>;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface Monitor {
  /** Where it is asked, without a path. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Begins to tell, at the address that `listen` writes; `off` gives undefined. Throws a UsageError for an address that is
 * none, or that can't be listened at. Without an address it is the usual one, and where that is taken, as by another
 * worker on this machine, nothing is told, and `onTaken` is called with the reason.
 */
export async function startMonitor(
  listen: string | undefined,
  watched: Watched,
  onTaken: (message: string) => void,
): Promise<Monitor | undefined> {
  const address = listen === undefined ? USUAL_ADDRESS : listenAddressOf(listen);
  if (!address) return undefined;
  const exposition = openExposition(watched);
  let server: MonitorServer;
  try {
    server = await serve(address, {
      isReady: openReadiness(watched),
      stuckBecause: watched.stuckBecause ?? (() => undefined),
      metrics: exposition,
    });
  } catch (error) {
    exposition.close();
    if (listen !== undefined) throw error;
    onTaken(`${(error as Error).message} Health and metrics are not told; --listen names another address.`);
    return undefined;
  }
  return {
    url: server.url,
    close: async () => {
      await server.close();
      exposition.close();
    },
  };
}
