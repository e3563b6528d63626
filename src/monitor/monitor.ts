/** Tells of a long-running process over HTTP: `/healthz`, `/readyz` and `/metrics`. */
import type { MonitoredProcess } from './monitored-process.ts';
import { openExposition } from './exposition.ts';
import { listenAddressOf, DEFAULT_ADDRESS } from './listen-address.ts';
import { openReadiness } from './readiness.ts';
import { type MonitorServer, serve } from './server.ts';

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
  watched: MonitoredProcess,
  onTaken: (message: string) => void,
): Promise<Monitor | undefined> {
  const address = listen === undefined ? DEFAULT_ADDRESS : listenAddressOf(listen);
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
