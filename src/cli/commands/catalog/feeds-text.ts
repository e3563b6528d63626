/** Formats what feeds tables for people: one line for each endpoint or table, with its paths in the answers. */
import type { Feed } from '../../../lineage/relations.ts';
import type { Channel } from '../../terminal/channel.ts';
import { column } from '../../terminal/print.ts';
import { wrappedTable } from '../../terminal/wrapped-table.ts';

/** What feeds a table or column, by endpoint. */
export const feedsByEndpoint = (feeds: readonly Feed[], out: Channel): string =>
  feedsBy(feeds, 'endpoint', out) || 'no endpoint feeds it\n';

/** What an endpoint or sync feeds, by table. */
export const feedsByTable = (feeds: readonly Feed[], out: Channel): string => feedsBy(feeds, 'table', out);

function feedsBy(feeds: readonly Feed[], by: 'endpoint' | 'table', out: Channel): string {
  const groups = Map.groupBy(feeds, (it) => it[by]);
  return wrappedTable([...groups], out, [
    column(by, ([name]) => name),
    column('from', ([, of]) => [...new Set(of.map(placeText))].join(', ')),
  ]);
}

function placeText({ path, from, detail, onlyWith }: Feed): string {
  const notes = [
    ...(from === 'computed' ? ['computed'] : []),
    ...(detail === 'full' ? [] : [detail]),
    ...(onlyWith.length > 0 ? [`only with ${onlyWith.join(' or ')}`] : []),
  ];
  return `${path ?? 'the request'}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}
