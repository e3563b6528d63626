/** One request of the ledger: its body, attempts and outcome, its coverage, and the beginning of its answer. */
import { sql } from 'kysely';
import { filtersText } from '../../text/filters.ts';
import { readAnswerStart } from '../../ledger/answer-start.ts';
import { bytes, milliseconds } from '../../report/figures.ts';
import { html, type Markup } from '../../report/markup.ts';
import { relation, rowsOf } from '../../report/reading/rows.ts';
import { stateMark } from '../../report/sections/section.ts';
import { column, figure, tableOf, timeOf } from '../../report/table.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { addressOf, details, isId, link, linkTo, longText, textOr } from '../parts.ts';
import type { Page, View } from '../view.ts';

interface RequestDetails {
  readonly id: string;
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly key: string;
  readonly body: string;
  readonly sentBody: string | null;
  readonly input: string;
  readonly depth: number;
  readonly parentId: string | null;
  readonly state: string;
  readonly attempts: number;
  readonly points: number | null;
  readonly charged: number | null;
  readonly xRequestId: string | null;
  readonly plannedAt: Date;
  readonly sentAt: Date | null;
  readonly finishedAt: Date | null;
  readonly answerId: string | null;
  readonly status: number | null;
  readonly failure: string | null;
  readonly error: string | null;
  readonly next: string | null;
}

/** The most characters of a request body. */
const MOST_BODY = 50_000;

async function readRequest(view: View): Promise<RequestDetails | undefined> {
  const [request] = await rowsOf(
    view,
    sql<RequestDetails>`
      select id::text as id, run_id::text as "runId", sync, endpoint, request_key as key, jsonb_pretty(body) as body,
        jsonb_pretty(sent_body) as "sentBody", input::text as input, depth::float8 as depth, parent_id::text as "parentId",
        state, attempts::float8 as attempts, points::float8 as points, charged::float8 as charged,
        x_request_id::text as "xRequestId", planned_at as "plannedAt", sent_at as "sentAt", finished_at as "finishedAt",
        answer_id::text as "answerId", status::float8 as status, failure_class as failure, error, next
      from ${sql.id(view.warehouse.ops, 'requests')} where id = ${view.id}::bigint`,
    MOST_BODY,
  );
  return request;
}

export async function requestPage(view: View): Promise<Page | undefined> {
  if (!isId(view.id)) return undefined;
  const request = await readRequest(view);
  if (!request) return undefined;
  return {
    title: `Request ${request.id}`,
    body: html`${details([
      ['Run', linkTo('/runs', request.runId)],
      ['Sync', link(addressOf('/requests', { sync: request.sync }), request.sync)],
      ['Endpoint', request.endpoint],
      ['State', stateMark(request.state)],
      ['Input', request.input !== '{}' && html`<code>${textOr(request.input)}</code>`],
      ['Attempts', request.attempts],
      ['HTTP status', request.status !== null && String(request.status)],
      ['Error', request.error],
      ['Kind of failure', request.failure],
      ['Next step', request.next],
      ['Points, by the price list', request.points],
      ['Points, as charged', request.charged],
      ['Planned', timeOf(request.plannedAt)],
      ['Sent', timeOf(request.sentAt)],
      ['Ended', timeOf(request.finishedAt)],
      ['Split or paged from', request.parentId !== null && linkTo('/requests', request.parentId)],
      ['Splits before it', request.depth > 0 && request.depth],
      ['x-request-id', request.xRequestId],
      ['Request key', html`<code>${request.key}</code>`],
    ])}
<h2>Body</h2>
${longText(request.sentBody ?? request.body)}
${await lostPart(view)}
${await coveragePart(view, request)}
${request.answerId !== null && (await answerPart(view, request.answerId))}`,
  };
}

async function lostPart(view: View): Promise<Markup | undefined> {
  const lost = await rowsOf(
    view,
    sql<{ attempt: number; sentAt: Date; reason: string; verdict: string | null; points: number | null }>`
      select attempt::float8 as attempt, sent_at as "sentAt", reason, verdict, points::float8 as points
      from ${sql.id(view.warehouse.ops, 'lost_answers')} where request_id = ${view.id}::bigint order by attempt`,
  );
  if (lost.length === 0) return undefined;
  return html`<h2>Lost answers</h2>${tableOf(lost, {
    id: 'lost',
    caption: 'Attempts whose answers were lost',
    columns: [
      figure('Attempt', ({ attempt }) => attempt),
      column('Sent', ({ sentAt }) => timeOf(sentAt)),
      column('Reason', ({ reason }) => textOr(reason), 'long'),
      column('Outcome by the log', ({ verdict }) => verdict?.replaceAll('_', ' ') ?? 'not looked up yet'),
      figure('Points', ({ points }) => points ?? '–'),
    ],
  })}`;
}

async function coveragePart(view: View, { sync, key }: RequestDetails): Promise<Markup | undefined> {
  const slices = await rowsOf(
    view,
    sql<{ filters: string; asked: number | null; returned: number; extent: string; reason: string | null; at: Date }>`
      select filters, asked::float8 as asked, returned::float8 as returned, extent, reason, as_of as at
      from ${relation(view, 'sync_slices')} where sync = ${sync} and request_key = ${key} order by slice_id`,
  );
  if (slices.length === 0) return undefined;
  return html`<h2>Coverage</h2>${tableOf(slices, {
    id: 'coverage',
    caption: 'Slices of the request, with their newest answers',
    columns: [
      column('Extent', ({ extent }) => stateMark(extent)),
      column('Filters', ({ filters }) => html`<code>${textOr(filters)}</code>`, 'long'),
      figure('Requested', ({ asked }) => asked ?? '–'),
      figure('Returned', ({ returned }) => returned),
      column('Why', ({ reason }) => textOr(reason), 'long'),
      column('As of', ({ at }) => timeOf(at)),
    ],
  })}`;
}

/** The most bytes of an answer's body. */
const MOST_ANSWER_BYTES = 2 ** 14;

async function answerPart(view: View, id: string): Promise<Markup> {
  const [facts] = await rowsOf(
    view,
    sql<{ sync: string; runId: string; status: number; ms: number; at: Date; counts: string; loadedAt: Date | null }>`
      select sync, run_id::text as "runId", status::float8 as status, took_ms::float8 as ms, received_at as at,
        json_build_object('received', received, 'loaded', loaded, 'unchanged', unchanged, 'superseded', superseded,
          'quarantined', quarantined)::text as counts, loaded_at as "loadedAt"
      from ${relation(view, 'paid_answers')} where answer_id = ${id}::bigint`,
  );
  const start = await readAnswerStart(operationsOf(view.warehouse), id, MOST_ANSWER_BYTES);
  if (!facts || !start) return html`<h2>Answer ${id}</h2><p class="empty">The answer was deleted.</p>`;
  const body = start.body && view.redact(new TextDecoder().decode(start.body, { stream: true }));
  const shown = start.body?.byteLength ?? 0;
  return html`<h2>Answer ${id}</h2>
${details([
  ['HTTP status', String(facts.status)],
  ['Received', timeOf(facts.at)],
  ['Took', milliseconds(facts.ms)],
  ['Size', bytes(start.bytes)],
  ['From', html`run ${linkTo('/runs', facts.runId)} of ${textOr(facts.sync)}`],
  ['Items', filtersText(JSON.parse(facts.counts))],
  ['Loaded', timeOf(facts.loadedAt, 'not yet')],
])}
<h3 class="set">Headers</h3>
${details(Object.entries(start.headers).map(([name, value]) => [view.redact(name), view.redact(value)] as const))}
<h3 class="set">Body</h3>
${
  body === undefined
    ? html`<p class="empty">The body was removed, by <code>sluice prune</code> or <code>sluice forget</code>, or is damaged.</p>`
    : html`${shown < start.bytes && html`<p class="fine">The first ${bytes(shown)} of ${bytes(start.bytes)}.</p>`}${longText(body)}`
}`;
}
