/** Collects the facts of a finished scenario from the sandbox and the warehouse. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { normalize, rejectedWhole } from '../../src/normalize/normalize.ts';
import { logReadName } from '../../src/ledger/log-reads.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { readAnswer } from '../../src/ledger/answers.ts';
import type { LoggedRequest } from '../../src/sandbox/arrival.ts';
import { validateQuery } from '../../src/sandbox/validate.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { endpointNamed } from '../../src/service/catalog.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import { canonicalRequest, requestKeyOf } from '../../src/service/request-key.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { bridgeTables, rootTables } from '../../src/warehouse/schema/tables.ts';
import type { Table } from '../../src/warehouse/schema/table-types.ts';
import { select } from '../flow/rows.ts';
import type { Arrival, LostAttempt, Entry, Facts, LeaseMove, Logged, Move, Row, StoredAnswer } from './facts.ts';
import { type Change, changesOf } from './recording.ts';

/** The facts that only the scenario knows. */
export interface Bounds extends Pick<Facts, 'maxAgeMs' | 'mostLost' | 'differing'> {
  /** A sync reads the log, so the table of costs must hold all of it. */
  readonly readsLog: boolean;
}

/** Collects all facts for the checker. No call may be in flight any more. */
export async function factsOf(
  warehouse: Warehouse,
  requests: readonly LoggedRequest[],
  { readsLog, ...bounds }: Bounds,
): Promise<Facts> {
  const changes = await changesOf(warehouse);
  return {
    ...bounds,
    arrivals: requests.map(arrivalOf),
    entries: await entriesOf(warehouse),
    moves: changes.filter(({ table }) => table === 'requests').map(moveOf),
    leases: changes.filter(({ table }) => table === 'leases').map(leaseMoveOf),
    soleOwner: warehouse.kind === 'embedded',
    answers: await answersOf(warehouse, changes),
    rows: await rowsNamingAnswers(warehouse),
    lostAnswers: await lostAnswersOf(warehouse),
    log: readsLog ? requests.filter(({ endpoint }) => endpoint !== LOG).map(loggedOf) : [],
    costs: readsLog ? await costsOf(warehouse) : [],
  };
}

/** The log does not list its own requests. */
const LOG = 'token.requests';

function arrivalOf({ number, arrivedAt, endpoint: name, body, xRequestId, sha256, cost }: LoggedRequest): Arrival {
  const endpoint = endpointNamed(name ?? '');
  if (!endpoint) throw new Error(`request ${number} is for no endpoint`);
  const key = requestKeyOf(endpoint.name, canonicalRequest(endpoint, askedOf(endpoint, body as RequestBody)));
  return { number, atMs: arrivedAt.getTime(), endpoint: endpoint.name, requestKey: key, xRequestId, sha256, cost };
}

/** A query consists of texts; the contract defines which of them are numbers. */
function askedOf(endpoint: Endpoint, body: RequestBody): RequestBody {
  if (endpoint.method !== 'GET') return body;
  const validated = validateQuery(endpoint, new URLSearchParams(body as Record<string, string>));
  if ('refusal' in validated) throw new Error(`a query that the contract refuses: ${JSON.stringify(body)}`);
  return validated.request;
}

const loggedOf = ({ path, xRequestId, cost }: LoggedRequest): Logged => ({ path, xRequestId, cost });

async function entriesOf(warehouse: Warehouse): Promise<Entry[]> {
  const rows = await operationsOf(warehouse)
    .selectFrom('requests as r')
    .select(['id', 'run_id', 'sync', 'request_key', 'x_request_id', 'state', 'attempts'])
    .select((eb) =>
      eb
        .selectFrom('requests as part')
        .select(eb.fn.countAll<string>().as('n'))
        .whereRef('part.parent_id', '=', 'r.id')
        .as('parts'),
    )
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    runId: row.run_id,
    sync: row.sync,
    requestKey: row.request_key,
    xRequestId: row.x_request_id,
    state: row.state,
    attempts: Number(row.attempts),
    parts: Number(row.parts),
    isLogReading: row.sync.includes(logReadName('')),
  }));
}

const moveOf = ({ atMs, before, after }: Change): Move => ({
  atMs,
  entryId: after['id'] ?? '',
  from: before?.['state'] ?? null,
  to: after['state'] ?? '',
  attempts: Number(after['attempts']),
});

const leaseMoveOf = ({ atMs, after }: Change): LeaseMove => ({
  atMs,
  name: after['name'] ?? '',
  holder: after['holder'] ?? '',
  token: Number(after['token']),
  expiresAtMs: Date.parse(after['expires_at'] ?? ''),
});

async function answersOf(warehouse: Warehouse, changes: readonly Change[]): Promise<StoredAnswer[]> {
  const storedAtMs = new Map(
    changes.filter(({ table, before }) => table === 'answers' && !before).map(({ after, atMs }) => [after['id'], atMs]),
  );
  const rejects = new Map(
    (await select<{ id: string; n: string }>(warehouse, REJECTS)).map(({ id, n }) => [id, Number(n)]),
  );
  const ops = operationsOf(warehouse);
  const counted = await ops
    .selectFrom('answers')
    .select(['id', 'sha256', 'received', 'loaded', 'unchanged', 'superseded', 'quarantined'])
    .orderBy('id')
    .execute();
  const found: StoredAnswer[] = [];
  for (const { id, sha256, ...counts } of counted) {
    const answer = await readAnswer(ops, id);
    const endpoint = endpointNamed(answer?.endpoint ?? '');
    if (!answer || !endpoint) throw new Error(`answer ${id} is not stored`);
    const { requestId: entryId, requestKey, request, sync } = answer;
    const batch =
      answer.status === 412
        ? { ...rejectedWhole(''), received: 0 }
        : normalize(endpoint, { sync, requestKey, request }, answer.body);
    found.push({
      id,
      entryId,
      requestKey,
      storedAtMs: storedAtMs.get(id) ?? Number.NaN,
      receivedAtMs: Date.parse(answer.receivedAt),
      sha256,
      sha256OfBytes: createHash('sha256').update(answer.body).digest('hex'),
      loaded: answer.loaded,
      counts: {
        received: Number(counts.received),
        loaded: Number(counts.loaded),
        unchanged: Number(counts.unchanged),
        superseded: Number(counts.superseded),
        quarantined: Number(counts.quarantined),
      },
      items: batch.received,
      rejects: rejects.get(id) ?? 0,
      tells: new Set([
        ...[...batch.roots].flatMap(([table, rows]) => rows.map((row) => `${table}\0${row.id}`)),
        ...(batch.bridge?.rows ?? []).map((cells) => bridgeRow(batch.bridge, cells)),
      ]),
    });
  }
  return found;
}

const REJECTS = 'select answer_id as id, count(*) as n from sluice_ops.quarantine where resolved_at is null group by 1';

type Bridge = ReturnType<typeof normalize>['bridge'];

function bridgeRow(bridge: Bridge, cells: Readonly<Record<string, unknown>>): string {
  const table = bridgeTables.find(({ name }) => name === bridge?.table);
  if (!table || !bridge) throw new Error('a bridge without a table');
  const all = { ...bridge.questionCells, ...cells };
  return [table.name, ...table.key.map((name) => String(all[name]))].join('\0');
}

async function rowsNamingAnswers(warehouse: Warehouse): Promise<Row[]> {
  const found: Row[] = [];
  for (const table of [...rootTables, ...bridgeTables] satisfies readonly Table[]) {
    const key = table.key.map((name) => sql`${sql.ref(name)}::text`);
    const { rows } = await sql<{ key: string[]; answer: string }>`
      select array[${sql.join(key)}] as key, _answer_id::text as answer
      from ${sql.table(`${warehouse.schema}.${table.name}`)}`.execute(warehouse.db);
    for (const row of rows) found.push({ row: [table.name, ...row.key].join('\0'), answerId: row.answer });
  }
  return found;
}

async function lostAnswersOf(warehouse: Warehouse): Promise<LostAttempt[]> {
  const rows = await operationsOf(warehouse).selectFrom('lost_answers').select(['request_id', 'attempt']).execute();
  return rows.map(({ request_id: entryId, attempt }) => ({ entryId, attempt: Number(attempt) }));
}

async function costsOf(warehouse: Warehouse): Promise<Logged[]> {
  const rows = await select<{ path: string; request_id: string; cost: string }>(
    warehouse,
    'select endpoint as path, response_request_id as request_id, cost::text from sluice.fact_request_costs',
  );
  return rows.map(({ path, request_id: xRequestId, cost }) => ({ path, xRequestId, cost: Number(cost) }));
}
