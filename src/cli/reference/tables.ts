/** The reference of tables and views: what analysts query, and what the machinery keeps, column by column. */
import { type DictionaryEntry, dictionary } from '../../warehouse/schema/dictionary.ts';
import { anchor, code, codes, generated, markdownTable, page } from './markdown.ts';

/** `docs/tables.md`. */
export function tablesPage(): string {
  const entries = dictionary();
  const analyst = entries.filter(({ area }) => area === 'analyst');
  const operations = entries.filter(({ area }) => area === 'operations');
  return page([
    generated('Tables'),
    'The same texts are comments on the tables and columns of the database, where BI tools show them.',
    '## For analysts',
    'In the schema `sluice`, unless `warehouse.schema` names another.',
    overview(analyst),
    '## Of the machinery',
    'In `sluice_ops`, or the name of the other schema with `_ops`: to be read, not written.',
    overview(operations),
    ...entries.flatMap(entryBlocks),
  ]);
}

const link = (table: string): string => `[${code(table)}](#${anchor(table)})`;

const overview = (entries: readonly DictionaryEntry[]): string =>
  markdownTable(
    ['Name', 'Holds'],
    entries.map(({ table, about }) => [link(table), about]),
  );

function entryBlocks({ table, kind, about, key, columns, references }: DictionaryEntry): string[] {
  const keyed = key.length > 0 ? ` Key: ${codes(key)}.` : '';
  return [
    `## ${table}`,
    `${about}${kind === 'view' ? ' A view.' : ''}${keyed}`,
    ...references.map(
      (it) => `${codes(it.columns)} ${it.columns.length === 1 ? 'refers' : 'refer'} to ${link(it.table)}.`,
    ),
    markdownTable(
      ['Column', 'Type', 'Null', 'Meaning'],
      columns.map((it) => [code(it.name), it.type, it.nullable ? 'yes' : '', it.about]),
    ),
  ];
}
