/** The open entries in quarantine, newest first, and one entry with its item. */
import { itemAt } from '../../ledger/inspect/item-at.ts';
import { listQuarantine, type QuarantineEntry, showQuarantine } from '../../ledger/quarantine.ts';
import { html } from '../../report/markup.ts';
import { clipped } from '../../report/reading/rows.ts';
import { column, emptyState, tableOf } from '../../report/table.ts';
import { filterForm, syncNames } from '../filters.ts';
import {
  details,
  idBefore,
  isId,
  linkTo,
  longText,
  paged,
  parameter,
  READ,
  syncLink,
  textOr,
  timeOf,
} from '../parts.ts';
import type { Page, ConsoleView } from '../view.ts';

/** The most characters of a reason in the list. */
const MOST_REASON = 400;

export async function quarantinePage(view: ConsoleView): Promise<Page> {
  const sync = parameter(view, 'sync');
  const before = idBefore(view);
  const rows = await listQuarantine(view.warehouse, READ, { sync, before });
  const { shown, pager } = paged(rows, { path: '/quarantine', filters: { sync }, isOlder: before !== undefined });
  return {
    title: 'Quarantine',
    body: html`${filterForm('/quarantine', [{ name: 'sync', label: 'Sync', options: await syncNames(view), value: sync }])}
${
  shown.length === 0
    ? emptyState('Nothing is in quarantine.', 'Items and answers that Sluice cannot load appear here.')
    : html`<p class="lead">After an update of Sluice, <code>sluice quarantine retry</code> loads these again, without requests to the service.</p>
${tableOf(shown, {
  id: 'quarantine',
  caption: 'Open entries, newest first',
  columns: [
    column('Entry', ({ id }) => linkTo('/quarantine', id)),
    column('Sync', syncLink),
    column('Resource', ({ resource }) => resource),
    column('Position', ({ pointer }) => html`<code>${textOr(pointer, 'the answer')}</code>`),
    column('Reason', ({ reason }) => textOr(clipped(view.redact(reason), MOST_REASON)), 'long'),
    column('Since', ({ at }) => timeOf(at)),
  ],
})}`
}${pager}`,
  };
}

export async function quarantineEntryPage(view: ConsoleView): Promise<Page | undefined> {
  const found = isId(view.id) ? await showQuarantine(view.warehouse, view.id) : undefined;
  if (!found) return undefined;
  const { entry, answer } = found;
  return {
    title: `Quarantine entry ${entry.id}`,
    body: html`${details([
      ['Sync', entry.sync],
      ['Endpoint', entry.endpoint],
      ['Resource', entry.resource],
      ['Reason', view.redact(entry.reason)],
      ['JSON pointer', entry.pointer === '' ? 'the complete answer' : html`<code>${textOr(entry.pointer)}</code>`],
      ['Answer', entry.answerId],
      ['Request', answer && linkTo('/requests', answer.requestId)],
      ['Since', timeOf(entry.at)],
    ])}
<h2>Item as the service sent it</h2>
${answer ? longText(view.redact(itemText(answer.body, entry))) : html`<p class="empty">The body of the answer was removed, by <code>sluice prune</code> or <code>sluice forget</code>.</p>`}`,
  };
}

function itemText(body: Uint8Array, { pointer }: QuarantineEntry): string {
  const item = itemAt(body, pointer);
  return typeof item === 'string' ? item : JSON.stringify(item, null, 2);
}
