/** One request of the ledger: its body, attempts and outcome, its coverage, and the beginning of its answer. */
import { sql } from 'kysely';
import { readAnswerStart } from '../../ledger/inspect/answer-start.ts';
import { bytes } from '../../report/figures.ts';
import { html, type Markup } from '../../report/markup.ts';
import { relation, rowsOf } from '../../report/reading/rows.ts';
import { stateMark } from '../../report/sections/section.ts';
import { column, figure, tableOf } from '../../report/table.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import {
  addressOf,
  details,
  isId,
  link,
  linkTo,
  longText,
  type NamedRow,
  rowDetails,
  runLink,
  textOr,
  timeOf,
} from '../parts.ts';
import type { Page, ConsoleView } from '../view.ts';
import { readSliceRows, slicesTable } from './coverage.ts';

/** The most characters of a request body. */
const MOST_BODY = 50_000;

interface RequestKeys {
  readonly sync: string;
  readonly key: string;
  readonly body: string;
  readonly answerId: string | null;
}

export async function requestPage(view: ConsoleView): Promise<Page | undefined> {
  if (!isId(view.id)) return undefined;
  const request = sql`from ${sql.id(view.warehouse.ops, 'requests')} where id = ${view.id}::bigint`;
  const [facts] = await rowsOf(
    view,
    sql<NamedRow>`
      select run_id::text as "Run", sync as "Sync", endpoint as "Endpoint", state as "State", nullif(input, '{}')::text as "Input",
        attempts::float8 as "Attempts", status::text as "HTTP status", error as "Error", failure_class as "Kind of failure",
        next as "Next step", points::float8 as "Points, as counted", charged::float8 as "Points, as charged",
        planned_at as "Planned", sent_at as "Sent", finished_at as "Ended", parent_id::text as "Split or paged from",
        x_request_id::text as "x-request-id", request_key as "Request key" ${request}`,
  );
  const [keys] = await rowsOf(
    view,
    sql<RequestKeys>`
      select sync, request_key as key, jsonb_pretty(coalesce(sent_body, body)) as body, answer_id::text as "answerId" ${request}`,
    MOST_BODY,
  );
  if (!facts || !keys) return undefined;
  const slices = await readSliceRows(view, keys);
  return {
    title: `Request ${view.id}`,
    body: html`${rowDetails(facts, {
      Run: (id) => runLink(id, keys.sync),
      Sync: (sync) => link(addressOf('/requests', { sync }), sync),
      State: stateMark,
      'Split or paged from': (id) => linkTo('/requests', id),
    })}
<h2>Body</h2>
${longText(keys.body)}
${await lostPart(view)}
${slices.length > 0 && html`<h2>Coverage</h2>${slicesTable(slices)}`}
${keys.answerId !== null && (await answerPart(view, keys.answerId))}`,
  };
}

async function lostPart(view: ConsoleView): Promise<Markup | undefined> {
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

/** The most bytes of an answer's body. */
const MOST_ANSWER_BYTES = 2 ** 14;
/** Read beyond them, so that a secret at the cut is recognized and does not show its beginning. */
const BEYOND_BYTES = 2 ** 12;

async function answerPart(view: ConsoleView, id: string): Promise<Markup> {
  const [facts] = await rowsOf(
    view,
    sql<NamedRow>`
      select status::text as "HTTP status", received_at as "Received", took_ms::float8 as "Milliseconds", bytes::float8 as "Bytes",
        sync as "Received by", run_id::text as "In run", received || ' received: ' || loaded || ' loaded, ' || unchanged || ' unchanged, '
          || superseded || ' superseded, ' || quarantined || ' quarantined' as "Items", loaded_at as "Loaded"
      from ${relation(view, 'paid_answers')} where answer_id = ${id}::bigint`,
  );
  const start = await readAnswerStart(operationsOf(view.warehouse), id, MOST_ANSWER_BYTES + BEYOND_BYTES);
  if (!facts || !start) return html`<h2>Answer ${id}</h2><p class="empty">The answer was deleted.</p>`;
  const body =
    start.body && view.redact(new TextDecoder().decode(start.body, { stream: true })).slice(0, MOST_ANSWER_BYTES);
  const shown = Math.min(start.body?.byteLength ?? 0, MOST_ANSWER_BYTES);
  return html`<h2>Answer ${id}</h2>
${rowDetails(facts, { 'In run': (run) => runLink(run, String(facts['Received by'])) })}
<h3 class="set">Headers</h3>
${details(Object.entries(start.headers).map(([name, value]) => [view.redact(name), view.redact(value)] as const))}
<h3 class="set">Body</h3>
${
  body === undefined
    ? html`<p class="empty">The body was removed, by <code>sluice prune</code> or <code>sluice forget</code>, or is damaged.</p>`
    : html`${shown < start.bytes && html`<p class="fine">The first ${bytes(shown)} of ${bytes(start.bytes)}.</p>`}${longText(body)}`
}`;
}
