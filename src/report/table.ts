/** Tables, the frames of charts, and the table of figures of a chart. */
import { dayOf } from '../day.ts';
import { instant, withThousands } from './figures.ts';
import { type Content, html, type Markup, named } from './markup.ts';

export interface ReportColumn<R> {
  readonly name: Content;
  /** Figures are right-aligned; drawings and long texts are wider. */
  readonly kind: 'figure' | 'drawing' | 'outcome' | 'text' | 'long';
  readonly cell: (row: R, index: number) => Content;
}

/** A column of the table, with what it shows of a row. */
export const column = <R>(
  name: Content,
  cell: ReportColumn<R>['cell'],
  kind: ReportColumn<R>['kind'] = 'text',
): ReportColumn<R> => ({ name, kind, cell });

/** A column of figures. A plain number has grouped digits. */
export const figure = <R>(name: Content, valueOf: ReportColumn<R>['cell']): ReportColumn<R> =>
  column(
    name,
    (row, index) => {
      const value = valueOf(row, index);
      return typeof value === 'number' ? withThousands(value) : value;
    },
    'figure',
  );

export interface ReportTable<R> {
  readonly id: string;
  /** A description of the rows for screen readers. It is not visible, because the text above the table contains it. */
  readonly caption: string;
  /** The first column contains the names of the rows. */
  readonly columns: readonly ReportColumn<R>[];
  /** A last row, such as the sums. */
  readonly sums?: readonly Content[];
}

/** The table, in a container that scrolls if the table is too wide. */
export function tableOf<R>(rows: readonly R[], { id, caption, columns, sums }: ReportTable<NoInfer<R>>): Markup {
  const kind = (index: number): string => columns[index]?.kind ?? 'text';
  const cell = (content: Content, index: number): Markup =>
    index === 0
      ? html`<th scope="row" class="${kind(index)}">${content}</th>`
      : html`<td class="${kind(index)}">${content}</td>`;
  const line = (cells: readonly Content[]): Markup => html`<tr>${cells.map(cell)}</tr>\n`;
  return html`<div class="scroll" role="group" aria-labelledby="${id}-caption" tabindex="0"><table id="${id}">
<caption id="${id}-caption" class="hidden">${caption}</caption>
<thead><tr>${columns.map(({ name }, index) => html`<th scope="col" class="${kind(index)}">${name}</th>`)}</tr></thead>
<tbody>
${rows.map((row, index) => line(columns.map(({ cell: cellOf }) => cellOf(row, index))))}</tbody>${
    sums &&
    html`
<tfoot>${line(sums)}</tfoot>`
  }
</table></div>`;
}

/** The table of the figures of a chart, collapsed. */
export const figuresBehind = <R>(rows: readonly R[], table: ReportTable<NoInfer<R>>): Markup =>
  html`<details><summary>Figures: ${table.caption}</summary>${tableOf(rows, table)}</details>`;

export interface Panel {
  readonly title: Content;
  /** A prominent figure beside the title. */
  readonly figure?: Content;
  readonly note?: Content;
  readonly chart: Content;
}

/** A chart with its title. */
export const panel = ({ title, figure, note, chart }: Panel): Markup =>
  html`<figure><figcaption><h3>${title}</h3>${figure !== undefined && html`<p class="total">${figure}</p>`}${note !== undefined && html`<p class="note">${note}</p>`}</figcaption>${chart}</figure>`;

/** An instant for people and for machines. */
export const timeOf = (at: Date | null, absent = '–'): Content =>
  at === null ? absent : html`<time datetime="${at.toISOString()}">${instant(at)}</time>`;

/** A UTC day for people and for machines. */
export const dayTime = (day: string): Markup => html`<time datetime="${day}">${day}</time>`;

/** The name of a sync, with its endpoint below. */
export const syncName = ({ sync, endpoint }: { readonly sync: string; readonly endpoint: string }): Markup =>
  html`${named(sync)}<span class="sub">${named(endpoint)}</span>`;

/** The text of a section without data: the reason and the next step. */
export const emptyState = (what: string, todo: Content): Markup => html`<p class="empty">${what} ${todo}</p>`;

/** The day of an instant, for texts. */
export const dayOfInstant = (at: Date): Markup => dayTime(dayOf(at));
