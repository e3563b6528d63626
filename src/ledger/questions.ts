/** The questions of a sync's earlier runs: how many requests each took, and which stored answers were full. */
import { sql } from 'kysely';
import type { RequestBody } from '../service/request-body.ts';
import { countOf } from '../service/endpoint.ts';
import { anyBigint, anyText } from '../warehouse/sql/array-literal.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** A question of a run with the requests that were sent for it. */
export interface QuestionSent {
  readonly requestKey: string;
  readonly request: RequestBody;
  readonly input: RequestBody;
  /** The `count` of each request that is no part of another one. */
  readonly counts: readonly (number | undefined)[];
  /** The `count` of each part. */
  readonly partCounts: readonly (number | undefined)[];
  /** Items in the answer to the question itself; undefined without one. */
  readonly items: number | undefined;
}

interface Question extends QuestionSent {
  readonly counts: (number | undefined)[];
  readonly partCounts: (number | undefined)[];
}

/**
 * Returns the questions of a sync's last run of all inputs that sent requests and ended, without those with a request
 * that got no readable answer: its parts are unknown.
 */
export async function questionsSent(ops: Ops, sync: string): Promise<QuestionSent[]> {
  const last = await ops
    .selectFrom('runs')
    .select('id')
    .where('sync', '=', sync)
    .where('state', 'in', ['complete', 'partial'])
    .where('asked', '>', '0')
    .where('scope', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!last) return [];
  const rows = await ops
    .selectFrom('requests as r')
    .leftJoin('answers as a', 'a.id', 'r.answer_id')
    .select(['r.id', 'r.parent_id', 'r.request_key', 'r.body', 'r.input', 'r.attempts', 'r.state', 'a.received'])
    .where('r.run_id', '=', last.id)
    .orderBy('r.id')
    .execute();
  // A part is planned after its question, so the question is already known.
  const questions = new Map<string, Question>();
  const unknown = new Set<QuestionSent>();
  for (const { id, parent_id: parent, request_key: requestKey, body: request, input, ...row } of rows) {
    const whole = parent === null ? undefined : questions.get(parent);
    const items = row.received === null ? undefined : Number(row.received);
    const question = whole ?? { requestKey, request, input, counts: [], partCounts: [], items };
    questions.set(id, question);
    if (row.attempts !== '0') (whole ? question.partCounts : question.counts).push(countOf(request));
    const { state } = row;
    if (state === 'quarantined' || state === 'failed' || state === 'in_doubt') unknown.add(question);
  }
  return [...new Set(questions.values())].filter((question) => !unknown.has(question));
}

/** Returns those of these answers that may be full. The items of an answer are counted when it is loaded. */
export async function possiblyFull(ops: Ops, answerIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await ops
    .selectFrom('answers')
    .select('id')
    .where('id', '=', anyBigint(answerIds))
    .where((eb) => eb.or([eb('received', '>=', eb.ref('asked')), eb('received', 'is', null)]))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Returns those of these request keys that have an unreadable answer. A run repeats such a request unchanged. */
export async function unreadKeys(ops: Ops, requestKeys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await ops
    .selectFrom('answers')
    .select('request_key')
    .distinct()
    .where('request_key', '=', anyText(requestKeys))
    .where('unreadable', '=', sql<boolean>`true`)
    .execute();
  return new Set(rows.map(({ request_key: key }) => key));
}
