/**
 * The service as a process of its own. It prepares every answer before the first request, so that serving costs little, and
 * exits when its input ends. `GET /bench/span` returns the times of requests and answers, and resets them.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpointNamed } from '../../src/service/catalog.ts';
import { requestLog } from '../../src/sandbox/request-log.ts';
import { LOG_PATH } from '../../src/service/request-log/request-log.ts';
import { latenciesOf } from './latency.ts';
import type { ServeOptions, Span } from './service.ts';
import { workloadOf } from './workload.ts';

const {
  workload: name,
  answers,
  latency,
  sameSignatures,
  keepsLog,
} = JSON.parse(process.argv[2] ?? '{}') as ServeOptions;
const workload = workloadOf(name, answers, sameSignatures);
const endpoint = endpointNamed(workload.endpoint);
if (!endpoint) throw new Error(`no endpoint ${workload.endpoint}`);
const bodies = Array.from({ length: answers }, (_, at) => Buffer.from(JSON.stringify(workload.items(at))));
const indexByInput = new Map(bodies.map((_, at) => [JSON.stringify(workload.wire(workload.input(at))), at]));
const latencies = latency ? latenciesOf(latency, answers) : undefined;

const log = requestLog(randomUUID(), 'descending', 'exclusive');
let span = emptySpan();

function emptySpan(): { firstAt: number; lastAt: number; tookMs: number[]; requests: number; peak: number } {
  return { firstAt: 0, lastAt: 0, tookMs: [], requests: 0, peak: 0 };
}

let inFlight = 0;

const now = (): number => performance.timeOrigin + performance.now();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrivedAt = now();
  if (request.url === '/bench/span') {
    response.end(JSON.stringify(span satisfies Span));
    span = emptySpan();
    return;
  }
  if (request.method === 'GET' && request.url?.startsWith(LOG_PATH)) {
    const query = new URL(request.url, 'http://service').searchParams;
    const [start_time, end_time, cursor] = ['start_time', 'end_time', 'cursor'].map((name) => query.get(name));
    const rows = log.list({ start_time, end_time, cursor, limit: Number(query.get('limit')) });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows));
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const question = JSON.parse(Buffer.concat(chunks).toString()) as Readonly<Record<string, unknown>>;
  const at = indexByInput.get(JSON.stringify(question[workload.field]));
  const body = at === undefined ? undefined : bodies[at];
  if (at === undefined || body === undefined || request.url !== endpoint?.path) {
    response.writeHead(404).end();
    return;
  }
  if (keepsLog) addToLog(request);
  span.firstAt = span.requests === 0 ? arrivedAt : span.firstAt;
  span.requests += 1;
  inFlight += 1;
  span.peak = Math.max(span.peak, inFlight);
  response.once('close', () => {
    inFlight -= 1;
  });
  response.once('finish', () => {
    span.lastAt = now();
    if (latencies) span.tookMs[at] = span.lastAt - arrivedAt;
  });
  const send = (): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.byteLength }).end(body);
  };
  if (latencies) setTimeout(send, latencies[at]);
  else send();
}

/** Adds the row of an answered request that costs a point. */
function addToLog({ url = '', headers }: IncomingMessage): void {
  const at = new Date();
  const xRequestId = headers['x-request-id']?.toString() ?? '';
  const end = log.begin({ id: randomUUID(), path: url, xRequestId, timeout: null, startedAt: at });
  const ending = { cost: 1, pointsLeft: null, status: 200, count: 1, errorText: null, executionSeconds: 0 };
  end({ ...ending, tokenExpired: false, pointsRunOut: false }, at);
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
console.log((server.address() as AddressInfo).port);
process.stdin.resume();
await once(process.stdin, 'end');
process.exitCode = 0;
server.closeAllConnections();
server.close();
