/** Serves the health and metrics of a long-running process over HTTP: `/healthz`, `/readyz` and `/metrics`. */
import type { MonitoredProcess } from './monitored-process.ts';
import { openExposition } from './exposition.ts';
import { listenAddressOf, DEFAULT_ADDRESS } from './listen-address.ts';
import { openReadiness } from './readiness.ts';
import type { HttpServer } from './http-server.ts';
import { serve } from './server.ts';

export interface Monitor {
  /** The base URL, without a path. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * The running monitor at the address `listen`; undefined for `off`. Throws a UsageError if the address is invalid or not
 * available. Without `listen` it uses the default address; if that is in use, for example by another worker on the
 * machine, it calls `onTaken` with the reason and returns undefined.
 */
export async function startMonitor(
  listen: string | undefined,
  watched: MonitoredProcess,
  onTaken: (message: string) => void,
): Promise<Monitor | undefined> {
  const address = listen === undefined ? DEFAULT_ADDRESS : listenAddressOf(listen);
  if (!address) return undefined;
  const exposition = openExposition(watched);
  let server: HttpServer;
  try {
    server = await serve(address, { isReady: openReadiness(watched), metrics: exposition });
  } catch (error) {
    exposition.close();
    if (listen !== undefined) throw error;
    onTaken(`${(error as Error).message} Health and metrics are disabled; set another address with --listen.`);
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
