/** Formats the lineage of an endpoint, a table, a view, a column or a sync for people. */
import type { DescribedSync, Description } from '../../../lineage/describe.ts';
import type { SyncLink } from '../../../lineage/sync-uses.ts';
import { escapeControls } from '../../../text/terminal-safe.ts';
import type { Channel } from '../../terminal/channel.ts';
import { heading, paragraph } from '../../terminal/paragraph.ts';
import { column, paint, tableOf } from '../../terminal/print.ts';
import type { DescribeResult } from './describe.ts';
import { feedsByEndpoint, feedsByTable } from './feeds-text.ts';

/** The text, with a part for each direction: what feeds it, what reads it, and the syncs. */
export function descriptionText(described: DescribeResult, out: Channel): string {
  const { kind, name, about, reads, feeds, views } = described;
  const isRelation = kind !== 'endpoint' && kind !== 'sync';
  const feedsTitle = isRelation ? (reads.length > 0 ? 'fed by, through what it reads' : 'fed by') : 'feeds';
  const read = isRelation ? (kind === 'column' ? 'its table' : 'it') : 'these tables';
  return [
    `${paint(out, 'bold', escapeControls(name))}  ${kind}\n`,
    paragraph(about, out),
    ...(reads.length > 0 ? [heading('reads', out), paragraph(reads.join(', '), out)] : []),
    heading(feedsTitle, out),
    (isRelation ? feedsByEndpoint : feedsByTable)(feeds, out),
    ...(views.length > 0 ? [heading(`views that read ${read}`, out), ...viewsText(views, out)] : []),
    '\n',
    ...syncsPart(described, out),
  ].join('');
}

function viewsText(views: Description['views'], out: Channel): string[] {
  const direct = views.filter(({ isDirect }) => isDirect).map(({ view }) => view);
  const others = views.filter(({ isDirect }) => !isDirect).map(({ view }) => view);
  return [
    paragraph(direct.join(', '), out),
    ...(others.length > 0 ? [paragraph(`through these: ${others.join(', ')}`, out)] : []),
  ];
}

function syncsPart({ kind, syncs, links, config, note }: DescribeResult, out: Channel): string[] {
  if (!syncs || !links) return [paragraph(`syncs are left out: ${note ?? ''}`, out)];
  const file = escapeControls(config ?? '');
  if (syncs.length === 0)
    return [paragraph(`no sync of ${file} ${kind === 'endpoint' ? 'requests it' : 'feeds or reads it'}`, out)];
  return [
    `${paint(out, 'bold', `syncs of ${file}`)}\n`,
    tableOf(syncs, out, [
      column('sync', (it) => it.sync),
      column('endpoint', (it) => it.endpoint),
      ...(syncs.every(({ feeds }) => feeds)
        ? []
        : [column<DescribedSync>('feeds it', (it) => (it.feeds ? 'yes' : 'no'))]),
      column('reads', (it) => it.reads.join(', ')),
      column('after', (it) => it.after.join(', ')),
    ]),
    ...(links.length > 0 ? [heading('chains', out), ...links.map((it) => paragraph(linkText(it), out))] : []),
  ];
}

const linkText = ({ from, via, to, waits }: SyncLink): string =>
  `${from} -> ${via} -> ${to}${waits ? '' : ` (${to} does not wait for ${from})`}`;
