/** Writes the reference of analyst tables, views and operations tables with their columns. */
import { type DictionaryEntry, dictionary } from '../../warehouse/schema/dictionary.ts';
import { anchor, code, codes, generated, markdownTable, page } from './markdown.ts';

/** The content of `docs/tables.md`. */
export function tablesPage(): string {
  const entries = dictionary();
  const analyst = entries.filter(({ area }) => area === 'analyst');
  const operations = entries.filter(({ area }) => area === 'operations');
  return page([
    generated('Tables'),
    'The database has the same texts as comments on tables and columns, so BI tools show them.',
    '## Analyst tables',
    'These are in the schema `sluice`, unless `warehouse.schema` names another.',
    overview(analyst),
    '## Operations tables',
    'These are in `sluice_ops`, or in the other schema’s name with `_ops`. They are read-only for users.',
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
