/** Histories of requests with their rows in the service’s log, made up and written into a warehouse. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

export const BEGAN = Date.parse('2026-01-01T00:00:00Z');
export const DAY_MS = 86_400_000;
const DAYS = 90;

/** Syncs with their endpoints. */
export const SYNCS = [
  { sync: 'groups', endpoint: 'pronet.group' },
  { sync: 'more_groups', endpoint: 'pronet.group' },
  { sync: 'people', endpoint: 'pronet.search.users' },
] as const;

/** Endpoints as logs may write them. */
const SPELLINGS: readonly (readonly [logged: string | null, name: string])[] = [
  ['/api/pronet/group', 'pronet.group'],
  ['pronet/group', 'pronet.group'],
  ['https://service.example/v1/api/pronet/search/users?x=1', 'pronet.search.users'],
  ['POST /api/webparser/parse/', 'webparser.parse'],
  ['/api/other/\u001b[2J\u202eevil', 'other.\u001b[2j\u202eevil'],
  ['', '(not reported)'],
  [null, '(not reported)'],
];

/** A row of the log as it was sent, and whose it is. */
export interface Row {
  readonly id: string;
  /** When it started; rows that don't say were first seen then. */
  readonly at: number;
  readonly tellsStart: boolean;
  readonly endpoint: string;
  readonly logged: string | null;
  readonly plan: string | null;
  readonly token: string | null;
  readonly cost: number | null;
  readonly isPaid: boolean | null;
  readonly status: number | null;
  readonly duration: number | null;
  readonly items: number | null;
  readonly pointsLeft: number | null;
  /** The request of the ledger, `several` when it may be one of two, undefined for another program's. */
  readonly request: Request | 'several' | undefined;
}

/** A request of the ledger; several rows may be of one. */
export interface Request {
  readonly id: number;
  readonly runId: number;
  readonly sync: string;
  readonly isLookup: boolean;
  readonly endpoint: string;
  readonly key: string;
  readonly at: number;
  readonly points: number;
  readonly answer: { readonly loaded: number; readonly newRows: number; readonly quarantined: number } | undefined;
}

export interface History {
  readonly rows: readonly Row[];
  readonly requests: readonly Request[];
}

const drawn = fc.record({
  day: fc.integer({ min: 0, max: DAYS - 1 }),
  second: fc.integer({ min: 0, max: 86_000 }),
  tellsStart: fc.integer({ min: 0, max: 19 }).map((it) => it > 0),
  spelling: fc.nat(SPELLINGS.length - 1),
  plan: fc.constantFrom('small', 'small', 'large', null, "it's \u001b[31m\u202e"),
  token: fc.constantFrom('00000000-0000-4000-8000-0000000000aa', '00000000-0000-4000-8000-0000000000bb', null),
  cost: fc.constantFrom(1, 1, 1, 2, 5, 12, 0, null),
  isPaid: fc.constantFrom(true, true, true, true, false, null),
  status: fc.constantFrom(200, 200, 200, 200, 204, 412, 422, 500, null),
  duration: fc.constantFrom(0.5, 3, null),
  items: fc.constantFrom(0, 1, 10, 100, null),
  pointsLeft: fc.constantFrom(null, 0, 10, 5000, 100_000),
  owner: fc.constantFrom('sync', 'sync', 'sync', 'again', 'lookup', 'several', 'none'),
  sync: fc.nat(SYNCS.length - 1),
  question: fc.nat(3),
  answer: fc.option(
    fc.record({ loaded: fc.constantFrom(0, 0, 1, 3), newRows: fc.nat(2), quarantined: fc.constantFrom(0, 0, 1) }),
    { freq: 5 },
  ),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

/** Histories of 90 days with up to so many rows. */
export const histories = (most: number, least = 0): fc.Arbitrary<History> =>
  fc.array(drawn, { minLength: least, maxLength: most, size: 'max' }).map(historyOf);

function historyOf(all: readonly Drawn[]): History {
  const requests: Request[] = [];
  const runs: string[] = [];
  // Each at a different time, so that the first one is never ambiguous.
  const timed = all
    .map((it, place) => ({ ...it, at: BEGAN + it.day * DAY_MS + it.second * 1000 + (place % 1000) }))
    .toSorted((a, b) => a.at - b.at)
    .map((it, place, sorted) => ({ ...it, at: Math.max(it.at, (sorted[place - 1]?.at ?? 0) + 1), place }));
  const requestOf = (it: (typeof timed)[number]): Row['request'] => {
    const { sync, endpoint } = SYNCS[it.sync] ?? SYNCS[0];
    if (it.owner === 'none') return undefined;
    if (it.owner === 'several') return requests.length > 1 ? 'several' : undefined;
    const before = requests.findLast((other) => other.sync === sync && !other.isLookup);
    if (it.owner === 'again' && before) return before;
    const isLookup = it.owner === 'lookup';
    const run = `${sync} ${isLookup} ${it.day}`;
    if (!runs.includes(run)) runs.push(run);
    const made: Request = {
      id: requests.length + 1,
      runId: runs.indexOf(run) + 1,
      sync,
      isLookup,
      endpoint: isLookup ? 'token.requests' : endpoint,
      key: isLookup ? `log ${it.place}` : `${endpoint} ${it.question}`,
      at: it.at,
      points: it.cost ?? 0,
      answer:
        it.answer === null
          ? undefined
          : { ...it.answer, newRows: !isLookup && endpoint === 'pronet.group' ? it.answer.newRows : 0 },
    };
    // The ledger has a question once in each run.
    const same = requests.find((other) => other.runId === made.runId && other.key === made.key);
    if (same) return same;
    requests.push(made);
    return made;
  };
  const rows = timed.map((it): Row => {
    const request = requestOf(it);
    const [logged, name] = SPELLINGS[it.spelling] ?? [null, '(not reported)'];
    const endpoint = typeof request === 'object' ? request.endpoint : name;
    return {
      ...it,
      id: `00000000-0000-4000-8000-${String(it.place).padStart(12, '0')}`,
      endpoint,
      logged: typeof request === 'object' ? `/api/${request.endpoint.replaceAll('.', '/')}` : logged,
      request,
    };
  });
  return { rows, requests };
}

const instant = (at: number): string => new Date(at).toISOString();

/** Receipt of a request's answer. */
export const receivedAt = ({ at }: Pick<Request, 'at'>): number => at + 100;

/** Writes rows that name the same columns; the rest is as the table has it by default. */
export async function fill(
  { db }: Pick<Warehouse, 'db'>,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = sql.join(Object.keys(first).map((it) => sql.ref(it)));
  await sql`insert into ${sql.table(table)} (${columns}) overriding system value
    select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)`.execute(
    db,
  );
}

export const machinery = (at: number) => ({
  _first_seen_at: instant(at),
  _changed_at: instant(at),
  _run_id: 1,
  _answer_id: 1,
  _content_hash: '',
  _part_hashes: '',
});

/** Puts a history in the place of what the warehouse held. */
export async function writeHistory(warehouse: Warehouse, { rows, requests }: History): Promise<void> {
  await sql`truncate sluice.fact_request_costs, sluice.pronet_groups, sluice_ops.runs, sluice_ops.answers cascade`.execute(
    warehouse.db,
  );
  const runs = new Map(requests.map((it) => [it.runId, it]));
  await fill(
    warehouse,
    'sluice_ops.runs',
    [...runs].map(([id, { sync, isLookup, endpoint, at }]) => ({
      id,
      sync: isLookup ? `${sync}:log` : sync,
      endpoint,
      definition_hash: 'h',
      state: 'complete',
      today: instant(at).slice(0, 10),
      started_at: instant(at),
      ended_at: instant(at),
      quote: { likely: 7 },
    })),
  );
  await fill(
    warehouse,
    'sluice_ops.requests',
    requests.map((it) => ({
      id: it.id,
      run_id: it.runId,
      sync: it.isLookup ? `${it.sync}:log` : it.sync,
      endpoint: it.endpoint,
      request_key: it.key,
      body: { count: 10 },
      input: {},
      state: it.answer ? 'loaded' : 'failed',
      attempts: 1,
      points: it.points,
      planned_at: instant(it.at),
      sent_at: instant(it.at),
      answer_id: it.answer ? it.id : null,
    })),
  );
  await fill(
    warehouse,
    'sluice_ops.answers',
    requests.flatMap(({ answer, ...it }) =>
      answer
        ? [
            {
              id: it.id,
              request_id: it.id,
              run_id: it.runId,
              sync: it.isLookup ? `${it.sync}:log` : it.sync,
              endpoint: it.endpoint,
              request_key: it.key,
              received_at: instant(receivedAt(it)),
              took_ms: 100,
              status: 200,
              headers: {},
              body: '',
              encoding: 'identity',
              sha256: '',
              bytes: 0,
              received: answer.loaded + answer.quarantined + 1,
              loaded: answer.loaded,
              unchanged: 1,
              superseded: 0,
              quarantined: answer.quarantined,
              loaded_at: instant(receivedAt(it)),
            },
          ]
        : [],
    ),
  );
  const groups = requests.filter((it) => it.endpoint === 'pronet.group' && it.answer !== undefined);
  await fill(
    warehouse,
    'sluice.pronet_groups',
    groups.flatMap((it) =>
      Array.from({ length: it.answer?.newRows ?? 0 }, (_, place) => ({
        urn_type: 'group',
        urn_value: `${it.id} ${place}`,
        ...machinery(receivedAt(it)),
      })),
    ),
  );
  await fill(warehouse, 'sluice.fact_request_costs', rows.map(logRow));
  await fill(
    warehouse,
    'sluice_ops.request_cost_matches',
    rows.flatMap(({ id, at, request }) => {
      const matched = { log_id: id, matched_at: instant(at) };
      if (request === undefined) return [];
      if (request !== 'several') return [{ ...matched, request_id: request.id, match_kind: 'identifier' }];
      return [1, 2].map((request_id) => ({ ...matched, request_id, match_kind: 'ambiguous' }));
    }),
  );
}

const logRow = (it: Row) => ({
  id: it.id,
  cost: it.cost,
  is_paid: it.isPaid,
  endpoint: it.logged,
  plan: it.plan,
  started_at: it.tellsStart ? instant(it.at) : null,
  points_left: it.pointsLeft,
  token_id: it.token,
  duration: it.duration,
  response_status_code: it.status,
  response_count: it.items,
  ...machinery(it.at),
});
