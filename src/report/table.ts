/** Tables and the frames round charts: captions, heads, aligned figures, and the table of figures behind a chart. */
import { dayOf, instant } from './figures.ts';
import { type Content, html, type Markup } from './markup.ts';

export interface ReportColumn {
  readonly name: Content;
  /** Figures are set right, their digits under each other; a drawing and long texts have more room. */
  readonly kind?: 'figure' | 'drawing' | 'outcome' | 'text' | 'long';
}

export interface ReportTable {
  readonly id: string;
  /** What a row is: read out before the table, and not shown, since what stands above the table says it. */
  readonly caption: string;
  /** The first names the row. */
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly Content[])[];
  /** A last row, such as the sums. */
  readonly sums?: readonly Content[];
}

/** The table, in a place that scrolls by itself when it is too wide. */
export function tableOf({ id, caption, columns, rows, sums }: ReportTable): Markup {
  const kind = (at: number): string => columns[at]?.kind ?? 'text';
  const cell = (content: Content, at: number): Markup =>
    at === 0
      ? html`<th scope="row" class="${kind(at)}">${content}</th>`
      : html`<td class="${kind(at)}">${content}</td>`;
  const line = (cells: readonly Content[]): Markup => html`<tr>${cells.map(cell)}</tr>\n`;
  return html`<div class="scroll" role="group" aria-labelledby="${id}-caption" tabindex="0"><table id="${id}">
<caption id="${id}-caption" class="hidden">${caption}</caption>
<thead><tr>${columns.map(({ name }, at) => html`<th scope="col" class="${kind(at)}">${name}</th>`)}</tr></thead>
<tbody>
${rows.map(line)}</tbody>${
    sums &&
    html`
<tfoot>${line(sums)}</tfoot>`
  }
</table></div>`;
}

/** The table of the figures that charts show, folded away. */
export const figuresBehind = (table: ReportTable): Markup =>
  html`<details><summary>Figures: ${table.caption}</summary>${tableOf(table)}</details>`;

export interface Panel {
  readonly title: Content;
  /** A figure that stands out beside the title. */
  readonly figure?: Content;
  readonly note?: Content;
  readonly chart: Content;
}

/** A chart under its name. */
export const panel = ({ title, figure, note, chart }: Panel): Markup =>
  html`<figure><figcaption><h3>${title}</h3>${figure !== undefined && html`<p class="total">${figure}</p>`}${note !== undefined && html`<p class="note">${note}</p>`}</figcaption>${chart}</figure>`;

/** An instant for people and for machines. */
export const timeOf = (at: Date | null, absent = '–'): Content =>
  at === null ? absent : html`<time datetime="${at.toISOString()}">${instant(at)}</time>`;

/** A UTC day for people and for machines. */
export const dayTime = (day: string): Markup => html`<time datetime="${day}">${day}</time>`;

/** What stands where there is nothing to show, and what to do about it. */
export const emptyState = (what: string, todo: Content): Markup => html`<p class="empty">${what} ${todo}</p>`;

/** The day of an instant, for texts. */
export const dayOfInstant = (at: Date): Markup => dayTime(dayOf(at));
