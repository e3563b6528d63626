/** A service whose behavior a test scripts for each call, down to single bytes, and a sync with the real client. */
import * as net from 'node:net';
import { onTestFinished } from 'vitest';
import { openClient } from '../../src/extract/client.ts';
import type { Notice, Summary } from '../../src/ledger/summary.ts';
import { runSyncs } from '../../src/syncs.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { type Clock, clockFrom } from './clock.ts';
import { configOf, countingIds } from './scene.ts';

/** Writes an answer to a call; whatever it leaves open stays so until the client gives up. */
export type Answer = (socket: net.Socket) => void;

export interface HostileServer {
  readonly host: string;
  /** Heads of the calls to data endpoints. */
  readonly calls: () => readonly string[];
  /** Every byte that arrived, whatever the request. */
  readonly seen: () => string;
}

/** A server whose nth call to a data endpoint gets the nth answer, or the last. Other paths get 404. */
export async function hostileServer(...answers: readonly [Answer, ...Answer[]]): Promise<HostileServer> {
  const calls: string[] = [];
  let seen = '';
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      seen += bytes.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (end < 0 || received.length < end + 4 + length) return;
      const call = received;
      received = '';
      if (call.startsWith('POST /api/')) {
        calls.push(call);
        (answers[calls.length - 1] ?? answers.at(-1))?.(socket);
      } else socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as net.AddressInfo).port}`, calls: () => calls, seen: () => seen };
}

export interface HostileRun {
  readonly summary: Summary;
  readonly notices: readonly Notice[];
}

/** A config with one request for one user. */
export const ONE_CALL = `service:
  url: \${SLUICE_SERVICE_URL}
  token: \${SLUICE_SERVICE_TOKEN}
  in_flight: 1
  requests_per_second: 1000000
warehouse: { url: "embedded:memory" }
syncs: { user: { endpoint: microblog.user, request: { user: ada, timeout: 20 } } }
`;

export interface HostileOptions {
  readonly yaml?: string;
  /** What a call may take in all, by a real clock. */
  readonly deadlineMs?: number;
  readonly maxBodyBytes?: number;
  readonly refresh?: boolean;
  /** Absent, each run begins at the same instant. */
  readonly clock?: Clock;
}

/** Runs syncs against that server with the shipped client; only its deadline is shorter. */
export async function syncFrom(
  { host }: HostileServer,
  warehouse: Warehouse,
  { yaml = ONE_CALL, deadlineMs = 20_000, maxBodyBytes, refresh = false, clock = clockFrom() }: HostileOptions = {},
): Promise<HostileRun> {
  const notices: Notice[] = [];
  const summary = await runSyncs(
    await configOf(yaml, `http://${host}`),
    warehouse,
    { names: [], refresh, failOnTruncated: false },
    {
      now: clock.now,
      sleep: clock.sleep,
      random: () => 0.5,
      newId: countingIds(3),
      onProgress: () => undefined,
      onNotice: (notice) => notices.push(notice),
      openClient: (options) => {
        const client = openClient({
          ...options,
          marginMs: deadlineMs,
          ...(maxBodyBytes !== undefined && { maxBodyBytes }),
        });
        return { ...client, send: (call, signal) => client.send({ ...call, timeoutSeconds: 0 }, signal) };
      },
    },
    new AbortController().signal,
  );
  return { summary, notices };
}
