/** The reference of endpoints: the request of each, its answer, and the tables that store it. */
import { catalog } from '../../service/catalog.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { Field, Fields, Resource } from '../../service/model.ts';
import { pagingInWords, priceInWords } from './endpoint-facts.ts';
import { anchor, code, codes, generated, markdownTable, page } from './markdown.ts';
import { requestFields } from './request-type.ts';

/** The contents of `docs/endpoints.md`. */
export function endpointsPage(): string {
  const resources = [...new Set(catalog.flatMap(({ returns }) => withNested(returns, [])))];
  return page([
    generated('Endpoints'),
    'The endpoints that a sync can use. `endpoint:` takes the name, and `request:` takes the request fields.',
    markdownTable(
      ['Endpoint', 'Returns', 'Table'],
      catalog.map((it) => [link(it.name), it.about, tableLink(it.returns.table)]),
    ),
    ...catalog.flatMap(endpointBlocks),
    '# Answers',
    'The fields of each item of an answer. If a field that the contract declares as always present is missing, it loads as null and counts as drift.',
    ...resources.flatMap(resourceBlocks),
  ]);
}

/** Differs from the endpoints' headings, since `microblog.user` and `MicroblogUser` would have the same anchor. */
const answerHeading = (it: Resource): string => `${it.name} items`;
const answerLink = (it: Resource): string => `[${code(it.name)}](#${anchor(answerHeading(it))})`;
const link = (heading: string): string => `[${code(heading)}](#${anchor(heading)})`;
const tableLink = (table: string): string => `[${code(table)}](tables.md#${anchor(table)})`;

function endpointBlocks(it: Endpoint): (string | undefined)[] {
  return [
    `## ${it.name}`,
    it.about,
    `${code(`${it.method} ${it.path}`)} returns ${answerLink(it.returns)} items. ${pagingInWords(it)} ${priceInWords(it)}`,
    markdownTable(
      ['Request field', 'Type', 'Default', 'Meaning'],
      requestFields(it.request).map(({ name, type, required, default: fallback, about }) => [
        code(name) + (Object.hasOwn(it.paging.ownFields, name) ? ' (set by Sluice)' : ''),
        type,
        required ? 'required' : fallback === undefined ? '' : code(JSON.stringify(fallback)),
        about,
      ]),
    ),
    it.facets.length > 0
      ? `After a full answer, ${code('split_by')} splits the request by ${codes(it.facets)}.`
      : undefined,
    it.sets.length > 0
      ? `The order of ${codes(it.sets)} has no meaning: requests that differ only in order are the same.`
      : undefined,
    it.bridge && `${it.bridge.about} The table is ${tableLink(it.bridge.table)}.`,
  ];
}

function withNested(resource: Resource, above: readonly Resource[]): Resource[] {
  if (above.includes(resource)) return [];
  const inner = Object.values(resource.fields).flatMap((field) =>
    field.shape === 'nested' || field.shape === 'nested-list' ? withNested(field.resource(), [...above, resource]) : [],
  );
  return [resource, ...inner];
}

function resourceBlocks(it: Resource): string[] {
  return [
    `## ${answerHeading(it)}`,
    `${it.about} Tagged ${code(it.tag)}; rows of ${tableLink(it.table)}, keyed by ${codes(it.key)}.`,
    markdownTable(['Field', 'Type', 'Always present', 'Meaning'], fieldRows(it.fields, '')),
  ];
}

function fieldRows(fields: Fields, prefix: string): string[][] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.shape === 'given') return [];
    const own = [code(prefix + name), typeInWords(field), field.required ? 'yes' : '', notes(field)];
    return [own, ...innerRows(field, prefix + name)];
  });
}

function innerRows(field: Field, path: string): string[][] {
  if (field.shape === 'object') return isUrn(field.fields) ? [] : fieldRows(field.fields, `${path}.`);
  if (field.shape === 'list' && field.element.of === 'object') return fieldRows(field.element.fields, `${path}[].`);
  return [];
}

const isUrn = (fields: Fields): boolean => Object.keys(fields).join() === 'type,value';

const KINDS = {
  text: 'text',
  integer: 'integer',
  number: 'number',
  flag: 'boolean',
  moment: 'date-time',
  day: 'date',
  uuid: 'uuid',
  epoch: 'integer instant',
  json: 'any JSON',
} as const;

function typeInWords(field: Exclude<Field, { shape: 'given' }>): string {
  switch (field.shape) {
    case 'scalar':
      return KINDS[field.kind];
    case 'object':
      return isUrn(field.fields) ? 'URN' : 'object';
    case 'list':
      return `list of ${{ scalar: 'texts', json: 'anything', object: 'objects' }[field.element.of]}`;
    case 'nested':
      return answerLink(field.resource());
    case 'nested-list':
      return `list of ${answerLink(field.resource())}`;
  }
}

function notes(field: Exclude<Field, { shape: 'given' }>): string {
  const switches = field.switchedBy.map((name) => code(name)).join(' or ');
  return [
    field.about,
    ...(field.shape === 'scalar' && field.fallback !== undefined
      ? [`Absent means ${code(JSON.stringify(field.fallback))}.`]
      : []),
    ...(field.volatile ? ['A difference here does not count as a change.'] : []),
    ...(switches === '' ? [] : [`Reported only with ${switches}.`]),
  ].join(' ');
}
