/** A form for read-only SQL, and its result as a table or as CSV. */
import { exact, html, type Markup } from '../../report/markup.ts';
import { withNoun } from '../../report/figures.ts';
import { csvRecords } from '../../text/csv.ts';
import { type PartOptions, readInParts } from '../../warehouse/connect/query-parts.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { exactValue } from '../../warehouse/sql/json-value.ts';
import { withQueryHint } from '../../flow/queries/query-error.ts';
import { redactedCell, resultTable } from '../result-table.ts';
import type { ConsoleView, Page } from '../view.ts';

/** Rows of a result on the page. */
const MOST_ROWS = 200;

/** The page with the form. */
export const sqlPage = (statement: string, formToken: string, result?: Markup): Page => ({
  title: 'SQL',
  body: html`<form class="sql" method="post" action="/sql">
<input type="hidden" name="token" value="${formToken}">
<label for="statement">One read-only statement. Names without a schema refer to the schema of the warehouse, and times are UTC.</label>
<textarea id="statement" name="statement" rows="8" spellcheck="false" autocapitalize="off" required>
${exact(statement)}</textarea>
<p><button name="as" value="table">Run</button> <button name="as" value="csv">Download CSV</button> <a href="/tables">Tables and columns</a></p>
</form>
${result}`,
});

/** Runs the statement for the page, without secrets. Throws the errors of `readInParts`, with the step that helps. */
export async function runStatement(
  warehouse: Warehouse,
  statement: string,
  { signal, redact }: Pick<ConsoleView, 'redact'> & { readonly signal: AbortSignal },
): Promise<Markup> {
  let columns: readonly string[] = [];
  const rows: (readonly unknown[])[] = [];
  await inParts(warehouse, statement, {
    signal,
    mostRows: MOST_ROWS + 1,
    onPart: (part) => {
      ({ columns } = part);
      // Long values are cut at once, so that the page needs little memory.
      for (const row of part.rows) rows.push(row.map((it) => redactedCell(it, redact)));
    },
  });
  const shown = rows.slice(0, MOST_ROWS);
  return html`<p class="fine">${rows.length > MOST_ROWS ? html`The first ${withNoun(MOST_ROWS, 'row')}; the CSV contains all rows.` : withNoun(shown.length, 'row')}</p>${resultTable(columns.map(redact), shown)}`;
}

/** Passes the result on as CSV with exact values, part by part. Throws the errors of `runStatement`. */
export async function runToCsv(
  warehouse: Warehouse,
  statement: string,
  signal: AbortSignal,
  write: (text: string) => Promise<void>,
): Promise<void> {
  let isFirst = true;
  await inParts(warehouse, statement, {
    signal,
    toValue: exactValue,
    onPart: async ({ columns, rows }) => {
      const [head, ...records] = csvRecords(columns, rows);
      await write([...(isFirst ? [head] : []), ...records].join(''));
      isFirst = false;
    },
  });
}

async function inParts(warehouse: Warehouse, statement: string, options: PartOptions): Promise<void> {
  try {
    await readInParts(warehouse, statement, options);
  } catch (error) {
    throw await withQueryHint(warehouse, error);
  }
}
