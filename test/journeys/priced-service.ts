/** A service with prices and a request log of its own, which a test makes true, late, slow, foreign or unreadable, and runs against it. */
import { randomUUID } from 'node:crypto';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Notice, Summary } from '../../src/ledger/summary.ts';
import type { SyncOptions } from '../../src/flow/run/sync-run.ts';
import { runSyncs } from '../../src/syncs.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { type Clock, clockFrom } from '../flow/clock.ts';
import { configOf } from '../flow/scene.ts';

export interface LoggedRow {
  readonly id: string;
  readonly cost: number;
  readonly is_paid: boolean;
  readonly endpoint: string;
  readonly plan: string;
  readonly started_at: string;
  readonly points_left: number | null;
  readonly token_id: string | null;
  readonly duration: number | null;
  readonly response_status_code: number | null;
  readonly response_count: number | null;
  readonly response_request_id: string | null;
}

export interface PricedOptions {
  /** Points for the nth call to data endpoints, from 1, with so many items in its answer. */
  readonly price: (nth: number, items: number, endpoint: string) => number;
  /** Items of an answer; 1 by default. */
  readonly items?: (nth: number) => number;
  /** Status of the nth answer, to this attempt at its request; 200 by default. Other answers are charged too, and have no items. */
  readonly status?: (nth: number, attempt: number) => number;
  /** True for calls that are charged, but whose connection ends without an answer. */
  readonly isLost?: (nth: number) => boolean;
  /** Points of the account at the start. */
  readonly points?: number;
  /** Milliseconds after the answer at which the row appears, or gets its cost. */
  readonly appearsAfterMs?: number;
  readonly costsAfterMs?: number;
  /** What the row of the nth call shows in place of the truth. */
  readonly row?: (row: LoggedRow, nth: number) => LoggedRow | undefined;
  readonly order?: 'descending' | 'ascending';
  /** Statuses of the readings, from 1; 200 by default. */
  readonly logStatus?: (nth: number) => number;
  /** How far the log's clock is ahead of ours. */
  readonly skewMs?: number;
  /** Rows that stand in the log from the beginning. */
  readonly before?: readonly LoggedRow[];
  /** Points that a reading of the log costs, where it is logged; absent, readings are not logged. */
  readonly readingCost?: number;
  /** Whether answers carry `x-token-points`. */
  readonly header?: boolean;
  /** The identifier that the nth answer and its row have in place of ours. */
  readonly ownIdentifier?: (nth: number) => string;
  /** Called before each answer to a data endpoint. */
  readonly onCall?: (nth: number, service: PricedService) => Promise<void> | void;
}

export interface PricedService {
  readonly url: string;
  readonly clock: Clock;
  /** Points charged for calls to data endpoints, and how many there were. */
  readonly spent: () => number;
  readonly calls: () => number;
  readonly readings: () => number;
  readonly mostUnderWay: () => number;
  /** The order of all requests, by path. */
  readonly paths: () => readonly string[];
  readonly points: () => number;
  /** Adds a row of another program with the same token. */
  readonly addRow: (row: Partial<LoggedRow>) => void;
}

export const rowOf = (row: Partial<LoggedRow>): LoggedRow => ({
  id: randomUUID(),
  cost: 1,
  is_paid: true,
  endpoint: '/api/microblog/user',
  plan: 'paid',
  started_at: '2026-03-06T14:00:00.000000Z',
  points_left: null,
  token_id: null,
  duration: 0.1,
  response_status_code: 200,
  response_count: 1,
  response_request_id: null,
  ...row,
});

/** The row without our identifier. */
export const without = (row: LoggedRow): LoggedRow => ({ ...row, response_request_id: null });

/** Serves until the test ends. */
export async function pricedService(options: PricedOptions): Promise<PricedService> {
  const clock = clockFrom();
  let [points, spent, calls, readings, underWay, mostUnderWay] = [options.points ?? 1_000_000, 0, 0, 0, 0, 0];
  const paths: string[] = [];
  const attempts = new Map<string, number>();
  const log: { readonly row: LoggedRow; readonly atMs: number }[] = (options.before ?? []).map((row) => ({
    row,
    atMs: 0,
  }));
  const startedAt = (): string =>
    new Date(clock.now().getTime() + (options.skewMs ?? 0))
      .toISOString()
      .replace('Z', `${String(log.length % 1000).padStart(3, '0')}Z`);

  const rowsNow = (query: URLSearchParams): LoggedRow[] => {
    const nowMs = clock.now().getTime();
    const shown = log.flatMap(({ row, atMs }) => {
      if (nowMs < atMs + (options.appearsAfterMs ?? 0)) return [];
      const isOpen = nowMs < atMs + (options.costsAfterMs ?? 0);
      return [isOpen ? { ...row, cost: 0, is_paid: false, points_left: null } : row];
    });
    const [start, end, cursor] = ['start_time', 'end_time', 'cursor'].map((name) => query.get(name));
    const ms = (text: string): number => Date.parse(text);
    const ascending = options.order === 'ascending';
    return shown
      .filter((it) => start == null || ms(it.started_at) >= ms(start))
      .filter((it) => end == null || ms(it.started_at) <= ms(end))
      .filter((it) => cursor == null || (ascending ? ms(it.started_at) >= ms(cursor) : ms(it.started_at) <= ms(cursor)))
      .toSorted((a, b) => (ascending ? 1 : -1) * a.started_at.localeCompare(b.started_at))
      .slice(0, Number(query.get('limit') ?? 10));
  };

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void (async () => {
        const url = new URL(request.url ?? '/', 'http://localhost');
        paths.push(url.pathname);
        const headers: Record<string, string> = { 'content-type': 'application/json' };
        if (url.pathname === '/token/requests') {
          readings += 1;
          const status = options.logStatus?.(readings) ?? 200;
          const rows = rowsNow(url.searchParams);
          if (options.readingCost !== undefined) {
            points -= options.readingCost;
            const id = String(request.headers['x-request-id']);
            const row = {
              endpoint: url.pathname,
              cost: options.readingCost,
              is_paid: options.readingCost > 0,
              points_left: points,
              response_request_id: id,
              started_at: startedAt(),
            };
            log.push({ row: rowOf(row), atMs: clock.now().getTime() });
          }
          response
            .writeHead(status, headers)
            .end(status === 200 ? JSON.stringify(rows) : JSON.stringify({ detail: 'no log today' }));
          return;
        }
        calls += 1;
        const nth = calls;
        underWay += 1;
        mostUnderWay = Math.max(mostUnderWay, underWay);
        await options.onCall?.(nth, service);
        // Calls that were sent together are answered together.
        await setTimeout(5);
        const items = options.items?.(nth) ?? 1;
        const cost = options.price(nth, items, url.pathname);
        const ours = String(request.headers['x-request-id']);
        const attempt = (attempts.get(ours) ?? 0) + 1;
        attempts.set(ours, attempt);
        const status = options.status?.(nth, attempt) ?? 200;
        points -= cost;
        spent += cost;
        const identifier = options.ownIdentifier?.(nth);
        if (identifier !== undefined) headers['x-request-id'] = identifier;
        const { user = 'x' } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { user?: string };
        const row = rowOf({
          cost,
          is_paid: cost > 0,
          endpoint: url.pathname,
          started_at: startedAt(),
          points_left: points,
          response_status_code: status,
          response_count: items,
          response_request_id: identifier ?? ours,
        });
        const shown = options.row ? options.row(row, nth) : row;
        if (shown) log.push({ row: shown, atMs: clock.now().getTime() });
        if (options.header === true) headers['x-token-points'] = String(points);
        underWay -= 1;
        if (options.isLost?.(nth)) {
          response.destroy();
          return;
        }
        if (status !== 200) {
          response.writeHead(status, { ...headers, 'retry-after': '0' }).end(JSON.stringify({ detail: 'busy' }));
          return;
        }
        response
          .writeHead(200, headers)
          .end(JSON.stringify(Array.from({ length: items }, (_, at) => itemOf(url.pathname, `${user}-${nth}-${at}`))));
      })();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const service: PricedService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock,
    spent: () => spent,
    calls: () => calls,
    readings: () => readings,
    mostUnderWay: () => mostUnderWay,
    paths: () => paths,
    points: () => points,
    addRow: (row) => log.push({ row: rowOf({ started_at: startedAt(), ...row }), atMs: clock.now().getTime() }),
  };
  return service;
}

/** As on a real machine, time passes between any two steps. */
export const tickingFrom = (service: PricedService): PricedService => {
  const now = (): Date => {
    service.clock.advance(1);
    return service.clock.now();
  };
  return { ...service, clock: { ...service.clock, now } };
};

const itemOf = (path: string, key: string): unknown =>
  path.includes('pronet')
    ? {
        internal_id: { type: 'fsd_profile', value: key },
        urn: { type: 'fsd_profile', value: key },
        name: key,
        alias: key,
        url: `https://pronet.example/${key}`,
      }
    : { internal_id: key, rest_id: key, name: key, alias: key, url: `https://microblog.example/${key}` };

export interface SpendingRun {
  readonly summary: Summary;
  readonly notices: readonly Notice[];
}

export interface SpendingOptions extends Partial<SyncOptions> {
  readonly budget?: string;
  readonly inFlight?: number;
  readonly inputs?: number;
  /** Syncs in place of the one of `microblog.user`. */
  readonly syncs?: string;
  readonly signal?: AbortSignal;
}

/** A config of a sync with so many inputs. */
export function spendingYaml({ budget, inFlight = 2, inputs = 40, syncs }: SpendingOptions): string {
  const users = Array.from({ length: inputs }, (_, at) => `u${at}`).join(', ');
  return `service:
  url: \${SLUICE_SERVICE_URL}
  token: \${SLUICE_SERVICE_TOKEN}
  in_flight: ${inFlight}
  requests_per_second: 1000000
warehouse: { url: "embedded:memory" }
${budget === undefined ? '' : `budget: ${budget}\n`}syncs:
${syncs ?? `  users: { endpoint: microblog.user, for_each: { user: [${users}] } }`}
`;
}

/** Runs the syncs against the service, with its clock. */
export async function spend(
  service: PricedService,
  warehouse: Warehouse,
  options: SpendingOptions,
): Promise<SpendingRun> {
  const notices: Notice[] = [];
  const { budget, inFlight, inputs, syncs, signal, ...given } = options;
  const yaml = spendingYaml({
    ...(budget !== undefined && { budget }),
    ...(inFlight !== undefined && { inFlight }),
    ...(inputs !== undefined && { inputs }),
    ...(syncs !== undefined && { syncs }),
  });
  const summary = await runSyncs(
    await configOf(yaml, service.url),
    warehouse,
    { names: [], refresh: false, failOnTruncated: false, ...given },
    {
      now: service.clock.now,
      sleep: service.clock.sleep,
      random: () => 0.5,
      newId: randomUUID,
      onProgress: () => undefined,
      onNotice: (notice) => notices.push(notice),
    },
    signal ?? new AbortController().signal,
  );
  return { summary, notices };
}
