/** A service whose answers a scenario writes byte by byte, with a request log of its own. */
import { randomUUID } from 'node:crypto';
import net from 'node:net';

export interface Call {
  /** From 1, over all calls that cost points. */
  readonly number: number;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Reply {
  /** The exact bytes for the socket. */
  readonly bytes: string;
  /** Points that the call costs (default: 1). */
  readonly points?: number;
  /** The socket is destroyed after the bytes. */
  readonly resets?: boolean;
}

export interface OddService {
  readonly url: string;
  /** Calls that cost points, in order of arrival. */
  readonly calls: () => readonly Call[];
  readonly pointsSpent: () => number;
  readonly close: () => Promise<void>;
}

/** A complete answer with status 200. */
export const ok = (body: string, headers: Readonly<Record<string, string>> = {}): string =>
  `HTTP/1.1 200 OK\r\n${Object.entries({
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`;

/** Starts a service on loopback. Its request log is correct and immediate, and reading it costs nothing. */
export async function startOddService(reply: (call: Call) => Reply): Promise<OddService> {
  const calls: Call[] = [];
  const log: Readonly<Record<string, unknown>>[] = [];
  let [pointsSpent, lastMicros] = [0, 0];
  const sockets = new Set<net.Socket>();
  const answer = (socket: net.Socket, head: string, body: string): void => {
    const [, method = '', target = ''] = /^(\w+) (\S+)/.exec(head) ?? [];
    if (method === 'GET') {
      socket.write(ok(logPage(log, new URL(target, 'http://service').searchParams)));
      return;
    }
    const call = { number: calls.length + 1, path: target, body: JSON.parse(body) as Call['body'] };
    calls.push(call);
    const { bytes, points = 1, resets = false } = reply(call);
    pointsSpent += points;
    // Two calls never start in the same microsecond.
    lastMicros = Math.max(lastMicros + 1, Date.now() * 1000);
    log.unshift({
      id: randomUUID(),
      cost: points,
      is_paid: true,
      endpoint: target,
      plan: 'test',
      started_at: instantOf(lastMicros),
      points_left: 1_000_000 - pointsSpent,
      response_status_code: 200,
      response_request_id: /^x-request-id: (.*)\r$/im.exec(head)?.[1] ?? null,
    });
    socket.write(bytes, 'latin1', () => {
      if (resets) socket.resetAndDestroy();
    });
  };
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('utf8');
      for (;;) {
        const end = received.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = received.slice(0, end + 2);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        const body = Buffer.from(received.slice(end + 4));
        if (body.length < length) return;
        received = body.subarray(length).toString('utf8');
        answer(socket, head, body.subarray(0, length).toString('utf8'));
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    calls: () => calls,
    pointsSpent: () => pointsSpent,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

const instantOf = (micros: number): string =>
  `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;

/** The newest rows first; the cursor is exclusive. */
function logPage(log: readonly Readonly<Record<string, unknown>>[], query: URLSearchParams): string {
  const startedAt = (row: Readonly<Record<string, unknown>>): string => String(row['started_at']);
  const from = Date.parse(query.get('start_time') ?? '0001-01-01');
  const to = Date.parse(query.get('end_time') ?? '9999-12-31');
  const cursor = query.get('cursor')?.replace('+00:00', 'Z') ?? '9999';
  const rows = log.filter((row) => {
    const at = Date.parse(startedAt(row));
    return at >= from && at <= to && startedAt(row) < cursor;
  });
  return JSON.stringify(rows.slice(0, Number(query.get('limit') ?? 10)));
}
