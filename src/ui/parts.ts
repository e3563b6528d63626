/** Parts that pages share: links, details, and the link to older rows. */
import { type Content, html, type Markup, named } from '../report/markup.ts';
import { isLogRead } from '../ledger/log-reads.ts';
import { withThousands } from '../report/figures.ts';
import { clipped } from '../report/reading/rows.ts';
import type { ConsoleView } from './view.ts';

/** Rows on a page. */
const SHOWN = 50;
/** The limit of a statement for one page: one row more shows that there are older ones. */
export const READ = SHOWN + 1;

type Parameters = Readonly<Record<string, string | undefined>>;

/** The address of a page with these parameters; those without a value are left out. */
export function addressOf(path: string, parameters: Parameters = {}): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given as [string, string][]).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** A link to a page of the console. */
export const link = (address: string, content: Content): Markup => html`<a href="${address}">${content}</a>`;

/** A link to the page of one thing, such as a run. */
export const linkTo = (path: string, id: string): Markup => link(`${path}/${encodeURIComponent(id)}`, id);

/** The value of a parameter; undefined if it is absent or empty, or contains a NUL, which no text in the database does. */
export function parameter({ parameters }: Pick<ConsoleView, 'parameters'>, name: string): string | undefined {
  const value = parameters.get(name);
  return value === null || value === '' || value.includes('\0') ? undefined : value;
}

/** The name of a sync as a link to its runs, with its endpoint below. */
export const syncLink = ({ sync, endpoint }: { readonly sync: string; readonly endpoint: string }): Markup =>
  html`<span class="name">${isLogRead(sync) ? sync : link(addressOf('/runs', { sync }), sync)}<span class="sub">${endpoint}</span></span>`;

/** A link to the run; the plain id for log reads, whose runs have no page. */
export const runLink = (id: string, sync: string): Content => (isLogRead(sync) ? id : linkTo('/runs', id));

/** An instant to the second, for people and for machines. */
export const timeOf = (at: Date | null, absent = '–'): Content =>
  at === null
    ? absent
    : html`<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;

/** True for the number of a run, a request or an entry. */
export const isId = (text: string): boolean => /^\d{1,18}$/.test(text);

/** The id before which the rows of this page begin; undefined for the newest rows. */
export function idBefore(view: Pick<ConsoleView, 'parameters'>): string | undefined {
  const before = parameter(view, 'before');
  return before !== undefined && isId(before) ? before : undefined;
}

interface Paged {
  readonly path: string;
  readonly filters: Parameters;
  /** True if this page does not begin with the newest row. */
  readonly isOlder: boolean;
}

/** The rows of one page, and the links to the newest and to older rows. The rows are read with the limit `READ`. */
export function paged<R extends { readonly id: string }>(
  rows: readonly R[],
  { path, filters, isOlder }: Paged,
): { readonly shown: readonly R[]; readonly pager: Content } {
  const shown = rows.slice(0, SHOWN);
  const older = rows.length > SHOWN && addressOf(path, { ...filters, before: shown.at(-1)?.id });
  const links = [
    isOlder && link(addressOf(path, filters), 'Newest'),
    older !== false && html`<a rel="next" href="${older}">Older</a>`,
  ];
  return { shown, pager: (isOlder || older !== false) && html`<p class="pager">${links}</p>` };
}

/** Names with their values; those without a value are left out. */
export const details = (entries: readonly (readonly [name: string, value: Content])[]): Markup =>
  html`<dl class="details">${entries
    .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** A row whose columns are named for people: times, figures and texts. */
export type NamedRow = Readonly<Record<string, string | number | Date | null>>;

/** The columns of a row as details. `shown` formats some of them by name. */
export const rowDetails = (row: NamedRow, shown: Readonly<Record<string, (text: string) => Content>> = {}): Markup =>
  details(
    Object.entries(row).map(([name, value]) => {
      if (value instanceof Date) return [name, timeOf(value)];
      if (typeof value === 'number') return [name, withThousands(value)];
      return [name, value === null || value === '' ? null : (shown[name]?.(value) ?? named(value))];
    }),
  );

/** The most characters of a long text on a page. */
const MOST_TEXT = 100_000;

/** A long text such as JSON, with its line breaks. */
export const longText = (text: string): Markup =>
  html`<pre tabindex="0">${clipped(text, MOST_TEXT)
    .split('\n')
    .map((line, index) => (index === 0 ? line : html`\n${line}`))}</pre>`;

/** An error and the step that helps. */
export const problem = (message: string, next: string): Markup =>
  html`<div class="problem" role="alert"><p><strong>${message}</strong></p>${next !== '' && html`<p>${next}</p>`}</div>`;

/** A text from outside; a dash without one. */
export const textOr = (text: string | null | undefined, absent = '–'): Content =>
  text === null || text === undefined || text === '' ? absent : named(text);
