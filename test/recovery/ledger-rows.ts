/** Rows of the log and requests of the ledger, written as if they had come there in the usual way. */
import { randomUUID } from 'node:crypto';
import { select } from '../flow/rows.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

export const BEGAN = Date.parse('2026-03-06T12:00:00Z');
const instant = (ms: number): string => `'${new Date(BEGAN + ms).toISOString()}'`;
const text = (value: string | number | boolean | null): string =>
  value === null ? 'null' : typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

export interface Sent {
  /** Milliseconds after the beginning. */
  readonly at: number;
  readonly tookMs?: number;
  readonly endpoint?: string;
  readonly count?: number | undefined;
  readonly attempts?: number;
  readonly state?: string;
  /** An answer is stored, with this header. */
  readonly isAnswered?: boolean;
  readonly header?: string;
  /** Times at which earlier attempts were sent and lost. */
  readonly lost?: readonly number[];
  readonly points?: number;
}

export interface Logged {
  readonly at: number;
  readonly endpoint?: string;
  readonly identifier?: string | null;
  readonly cost?: number;
  readonly isPaid?: boolean;
  readonly count?: number | null;
  readonly status?: number;
  /** False for the row of a running request. */
  readonly isComplete?: boolean;
}

interface Reading {
  readonly sync: string;
  readonly scope: string | null;
  readonly body: RequestBody;
}

/** A ledger and a log to write into. */
export async function ledgerRowsIn(warehouse: Warehouse) {
  const [run] = await select<{ id: string }>(
    warehouse,
    `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at, ended_at)
     values ('groups', 'pronet.group', 'h', 'complete', '2026-03-06', ${instant(0)}, ${instant(7_200_000)}) returning id`,
  );
  const runId = run?.id ?? '';
  const storeAnswer = (id: string, identifier: string, it: Sent): Promise<unknown> =>
    select(
      warehouse,
      `with a as (
         insert into sluice_ops.answers (request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, body, encoding, sha256, bytes, received)
         values (${id}, ${runId}, 'groups', ${text(it.endpoint ?? 'pronet.group')}, ${text(identifier)}, ${instant(it.at + (it.tookMs ?? 100))}, ${it.tookMs ?? 100}, 200,
           ${text(JSON.stringify(it.header === undefined ? {} : { 'x-request-id': it.header }))}, '', 'identity', '', 0, ${it.count ?? 1}) returning id)
       update sluice_ops.requests set answer_id = a.id from a where requests.id = ${id} returning requests.id`,
    );
  return {
    runId,
    /** Enters a request; gives its id and the identifier that it was sent with. */
    send: async (it: Sent): Promise<{ readonly id: string; readonly identifier: string }> => {
      const { endpoint = 'pronet.group', attempts = 1 + (it.lost?.length ?? 0), state = 'loaded', points = 1 } = it;
      const identifier = randomUUID();
      const [row] = await select<{ id: string }>(
        warehouse,
        `insert into sluice_ops.requests (run_id, sync, endpoint, request_key, body, sent_body, input, state, attempts, points, x_request_id, planned_at, sent_at)
         values (${runId}, 'groups', ${text(endpoint)}, ${text(identifier)}, ${text(JSON.stringify(it.count === undefined ? {} : { count: it.count }))},
           '{}', '{}', ${text(state)}, ${attempts}, ${points}, ${text(identifier)}, ${instant(it.at)}, ${instant(it.at)}) returning id`,
      );
      const id = row?.id ?? '';
      for (const [index, lostAt] of (it.lost ?? []).entries())
        await select(
          warehouse,
          `insert into sluice_ops.lost_answers (request_id, attempt, run_id, sync, endpoint, sent_at, noticed_at, reason)
           values (${id}, ${index + 1}, ${runId}, 'groups', ${text(endpoint)}, ${instant(lostAt)}, ${instant(lostAt + 100)}, 'cut')`,
        );
      if (it.isAnswered ?? true) await storeAnswer(id, identifier, it);
      return { id, identifier };
    },
    /** Sends a request in doubt again, for 5 points, and stores its answer. */
    sendAgain: async ({ id, identifier }: { readonly id: string; readonly identifier: string }, at: number) => {
      await select(
        warehouse,
        `update sluice_ops.requests set state = 'loaded', attempts = attempts + 1, points = points + 5, sent_at = ${instant(at)}
         where id = ${id} returning id`,
      );
      await storeAnswer(id, identifier, { at });
    },
    /** Enters a row of the log and gives its id. */
    log: async (it: Logged): Promise<string> => {
      const id = randomUUID();
      const {
        endpoint = '/api/pronet/group',
        identifier = null,
        cost = 1,
        isPaid = cost > 0,
        count = 1,
        status = 200,
        isComplete = true,
      } = it;
      await select(
        warehouse,
        `insert into sluice.fact_request_costs (id, cost, is_paid, endpoint, plan, started_at, duration, response_status_code, response_count, response_request_id,
           _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
         values (${text(id)}, ${cost}, ${isPaid}, ${text(endpoint)}, 'p', ${instant(it.at)}, ${isComplete ? 0.1 : null}, ${isComplete ? status : null},
           ${isComplete ? count : null}, ${text(identifier)}, ${instant(it.at)}, now(), ${runId}, 0, '', '') returning id`,
      );
      return id;
    },
    /** A reading of the log that began then: of all of it by a sync of the log, or as the part says. */
    read: (at: number, { sync = 'costs', scope = null, body = {} }: Partial<Reading> = {}): Promise<unknown> =>
      select(
        warehouse,
        `with n as (insert into sluice_ops.runs (sync, endpoint, definition_hash, state, today, started_at, ended_at, scope)
           values (${text(sync)}, 'token.requests', 'h', 'complete', '2026-03-06', ${instant(at)}, ${instant(at + 1000)}, ${text(scope)}) returning id)
         insert into sluice_ops.requests (run_id, sync, endpoint, request_key, body, sent_body, input, state, attempts, x_request_id, planned_at, sent_at)
         select id, ${text(sync)}, 'token.requests', 'k', ${text(JSON.stringify(body))}, '{}', '{}', 'loaded', 1, gen_random_uuid(), ${instant(at)}, ${instant(at)} from n returning id`,
      ),
    matches: async (): Promise<string[]> =>
      (
        await select<{ request_id: string; log_id: string; match_kind: string }>(
          warehouse,
          'select request_id, log_id, match_kind from sluice_ops.request_cost_matches',
        )
      )
        .map((it) => `${it.request_id} ${it.log_id} ${it.match_kind}`)
        .toSorted(),
    requests: () =>
      select<{ id: string; charged: number | null; points: number | null }>(
        warehouse,
        "select id, charged::int, points::int from sluice_ops.requests where endpoint <> 'token.requests' order by id",
      ),
    lostAnswers: () =>
      select<{ verdict: string | null; points: number | null }>(
        warehouse,
        'select verdict, points::int from sluice_ops.lost_answers order by request_id, attempt',
      ),
  };
}
