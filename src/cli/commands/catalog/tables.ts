/** `sluice tables`: shows the tables and views for analysts. */
import { EXIT } from '../../../errors.ts';
import type { Feed } from '../../../lineage/relations.ts';
import type { DictionaryColumn, DictionaryEntry, DictionaryReference } from '../../../warehouse/schema/dictionary.ts';
import { command } from '../../command.ts';
import type { Channel } from '../../terminal/channel.ts';
import { heading, paragraph } from '../../terminal/paragraph.ts';
import { column, paint } from '../../terminal/print.ts';
import { showGenerated } from '../../terminal/show.ts';
import { cutTable, hasRoom, wrappedTable } from '../../terminal/wrapped-table.ts';
import { feedsByEndpoint } from './feeds-text.ts';

interface TableFacts {
  readonly name: string;
  readonly kind: DictionaryEntry['kind'];
  /** Columns of the primary key; for a view, the columns that identify a row. */
  readonly key: readonly string[];
  readonly about: string;
}

interface TableDetails extends TableFacts {
  /** operations: a table for internal use, in the operations schema. */
  readonly area: DictionaryEntry['area'];
  readonly columns: readonly DictionaryColumn[];
  /** The foreign keys. */
  readonly references: readonly DictionaryReference[];
  /** The tables and views that a view reads. */
  readonly reads: readonly string[];
  /** What feeds it; for a view, what feeds its tables. */
  readonly feeds: readonly Feed[];
}

export const tables = command({
  about:
    'List the tables and views for analysts and what one row of each is. With a name, show its columns, its key and what feeds it. ' +
    'Needs neither a config nor a token nor the warehouse.\n\n' +
    '- table: a row for each entity.\n' +
    '- list: the elements of a list of an entity.\n' +
    '- bridge: what a request returned.\n' +
    '- fact: numbers at a time.\n' +
    '- history: a log of changes.\n' +
    '- view: a query over tables.',
  options: {},
  positionals: {
    name: {
      takes: 'optional',
      completes: 'tables',
      about: 'Table or view to show, with or without its schema (default: list all).',
    },
  },
  examples: [
    { line: 'sluice tables', about: 'List what can be queried.' },
    { line: 'sluice tables pronet_users', about: 'Show the columns of a table, and the endpoints that feed it.' },
  ],
  run: async ({ name }, context) => {
    if (name === undefined) {
      const listed = await listTables('analyst');
      showGenerated(context, 'tables/1', { tables: listed }, () => listText(listed, context.out));
      return EXIT.complete;
    }
    const details = await describeTable(name);
    showGenerated(context, 'tables-show/1', details, () => detailsText(details, context.out));
    return EXIT.complete;
  },
});

/** The tables and views of an area. */
export async function listTables(of: DictionaryEntry['area']): Promise<readonly TableFacts[]> {
  const { dictionary } = await import('../../../warehouse/schema/dictionary.ts');
  return dictionary()
    .filter(({ area }) => area === of)
    .map(factsOf);
}

/** A table or view, named with or without its schema. Throws a UsageError with the nearest names for an unknown name. */
export async function describeTable(name: string): Promise<TableDetails> {
  const [{ findTable }, { feedsInto, readsOf }] = await Promise.all([
    import('../../../lineage/subject.ts'),
    import('../../../lineage/relations.ts'),
  ]);
  const entry = findTable(name);
  const { area, columns, references, table } = entry;
  return { ...factsOf(entry), area, columns, references, reads: readsOf(table), feeds: feedsInto(table) };
}

const factsOf = ({ table, kind, key, about }: DictionaryEntry): TableFacts => ({ name: table, kind, key, about });

/** One line for each table. On a narrow terminal the key is left out, so that names stay complete. */
function listText(listed: readonly TableFacts[], out: Channel): string {
  const name = column('name', (it: TableFacts) => it.name);
  const kind = column('kind', (it: TableFacts) => it.kind);
  const contents = column('contents', (it: TableFacts) => it.about);
  const all = [name, kind, column('key', (it: TableFacts) => it.key.join(', ')), contents];
  return cutTable(listed, out, hasRoom(listed, out, all) ? all : [name, kind, contents]);
}

function detailsText(details: TableDetails, out: Channel): string {
  const { name, kind, area, key, about, columns, references, reads, feeds } = details;
  const lines = [
    ...(key.length > 0 ? [`key: ${key.join(', ')}`] : []),
    ...references.map((it) => `${it.columns.join(', ')}: refers to ${it.table} (${it.references.join(', ')})`),
    ...(reads.length > 0 ? [`reads: ${reads.join(', ')}`] : []),
  ];
  return [
    `${paint(out, 'bold', name)}  ${area === 'operations' ? `${kind} for internal use` : kind}\n`,
    ...[about, ...lines].map((it) => paragraph(it, out)),
    heading('columns', out),
    wrappedTable(columns, out, [
      column('column', (it) => it.name),
      column('type', (it) => it.type),
      column('null', (it) => (it.nullable ? 'yes' : 'no')),
      column('meaning', (it) => it.about),
    ]),
    heading('fed by', out),
    feedsByEndpoint(feeds, out),
    `\nsluice describe ${name} shows the views and syncs around it\n`,
  ].join('');
}
