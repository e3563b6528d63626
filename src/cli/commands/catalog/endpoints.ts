/** `sluice endpoints`: shows what can be requested. */
import { EXIT } from '../../../errors.ts';
import { command } from '../../command.ts';
import type { EndpointDetails, EndpointFacts } from '../../reference/endpoint-facts.ts';
import type { Channel } from '../../terminal/channel.ts';
import { heading, paragraph } from '../../terminal/paragraph.ts';
import { column, paint, withNoun } from '../../terminal/print.ts';
import { showGenerated } from '../../terminal/show.ts';
import { hasRoom, wrappedTable } from '../../terminal/wrapped-table.ts';

export const endpoints = command({
  about:
    'List the endpoints of the service: what each returns, how many items an answer can have, how full answers are split, and the first guess of the price. ' +
    'With a name, show the request fields that a config can set, the tables that the answers feed, and a config to begin with. ' +
    'Needs neither a config nor a token nor the warehouse.',
  options: {},
  positionals: {
    name: {
      takes: 'optional',
      completes: 'endpoints',
      about: 'Endpoint to show, by its name or path (default: list all).',
    },
  },
  examples: [
    { line: 'sluice endpoints', about: 'List what can be requested.' },
    { line: 'sluice endpoints pronet.search.users', about: 'Show the fields of a request, and a first sync.' },
  ],
  run: async ({ name }, context) => {
    const [{ endpointDetails, endpointFacts, pagingInWords, priceInWords }, { catalog }] = await Promise.all([
      import('../../reference/endpoint-facts.ts'),
      import('../../../service/catalog.ts'),
    ]);
    if (name === undefined) {
      const listed = catalog.map(endpointFacts);
      showGenerated(context, 'endpoints/1', { endpoints: listed }, () => listText(listed, context.out));
      return EXIT.complete;
    }
    const { findEndpoint } = await import('../../../lineage/subject.ts');
    const endpoint = findEndpoint(name);
    const details = endpointDetails(endpoint);
    const sentences = `${pagingInWords(endpoint).replaceAll('`', '')} ${priceInWords(endpoint)}`;
    showGenerated(context, 'endpoints-show/1', details, () => detailsText(details, sentences, context.out));
    return EXIT.complete;
  },
});

/** A column for each fact; on a narrow terminal the facts about answers in one column, wrapped. */
function listText(listed: readonly EndpointFacts[], out: Channel): string {
  const request = [
    column('endpoint', ({ name }: EndpointFacts) => name),
    column('request', ({ method, path }: EndpointFacts) => `${method} ${path}`),
  ];
  const answer = [
    column('returns', ({ returns }: EndpointFacts) => returns),
    column('items', itemsText),
    column('split by', splitText),
    column('first guess', priceText),
  ];
  const all = [...request, ...answer];
  return wrappedTable(listed, out, hasRoom(listed, out, all) ? all : [...request, column('answer', answerText)]);
}

function answerText(facts: EndpointFacts): string {
  const split = splitText(facts);
  return `${facts.returns}, ${itemsText(facts)}${split === '' ? '' : `, split by ${split}`}; ${priceText(facts)}`;
}

function itemsText({ paging, maxCount }: EndpointFacts): string {
  if (paging === 'once') return 'all';
  if (paging === 'cursor') return 'a page';
  return `up to ${maxCount ?? 'count'}`;
}

/** What splits a request whose answer was full. */
const splitText = ({ paging, splitBy }: EndpointFacts): string =>
  [...(paging === 'window' ? ['days'] : []), ...splitBy.map(({ field }) => field)].join(', ');

function priceText({ price: { points, per } }: EndpointFacts): string {
  if (points === 0) return 'free';
  return `${withNoun(points, 'point')} per ${per === null ? 'request' : `${per} results`}`;
}

function detailsText(details: EndpointDetails, sentences: string, out: Channel): string {
  const { name, about, method, path, returns, table, fields, setByPaging, tables, example } = details;
  const splits = details.splitBy.map(({ field, shorthand }) =>
    shorthand === null ? field : `${field} (also ${shorthand})`,
  );
  const notes = [
    ...(splits.length > 0 ? [`After a full answer, split_by splits the request by ${splits.join(', ')}.`] : []),
    ...setByPaging.map(({ field, reason }) => `A config cannot set ${field}: ${reason}.`),
  ];
  return [
    `${paint(out, 'bold', name)}  ${method} ${path}\n`,
    paragraph(`${about} It returns ${returns} items, as rows of ${table}. ${sentences}`, out),
    heading('request fields', out),
    wrappedTable(fields, out, [
      column('field', (it) => it.name),
      column('type', (it) => it.type),
      column('default', (it) =>
        it.required ? 'required' : it.default === undefined ? '' : JSON.stringify(it.default),
      ),
      column('meaning', (it) => it.about),
    ]),
    ...notes.map((it) => paragraph(it, out)),
    heading('tables', out),
    paragraph(tables.join(', '), out),
    heading('a config to begin with', out),
    example,
    `\nsluice describe ${name} shows which part of an answer feeds which table\n`,
  ].join('');
}
