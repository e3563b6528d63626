/** Renders the reference of tables and views, for analysts and for internal use, with every column. */
import { type DictionaryEntry, dictionary } from '../../warehouse/schema/dictionary.ts';
import { anchor, code, codes, generated, markdownTable, page } from './markdown.ts';

/** The contents of `docs/tables.md`. */
export function tablesPage(): string {
  const entries = dictionary();
  const analyst = entries.filter(({ area }) => area === 'analyst');
  const operations = entries.filter(({ area }) => area === 'operations');
  return page([
    generated('Tables'),
    'The database has the same texts as comments on tables and columns, which BI tools show.',
    '## For analysts',
    'These tables and views are in the schema `sluice`, or in the schema that `warehouse.schema` names.',
    overview(analyst),
    '## Internal tables',
    'These tables are in the schema `sluice_ops`, or in the other schema’s name with `_ops`. Read them, but do not write to them.',
    overview(operations),
    ...entries.flatMap(entryBlocks),
  ]);
}

const link = (table: string): string => `[${code(table)}](#${anchor(table)})`;

const overview = (entries: readonly DictionaryEntry[]): string =>
  markdownTable(
    ['Name', 'Contents'],
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
