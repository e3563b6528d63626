/** Formats the summary of an invocation for people: a line for each sync, the total, errors and next steps. */
import type { QuotedPoints, Summary, SyncSummary } from '../../ledger/summary.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from '../terminal/channel.ts';
import { checkLines } from './check-lines.ts';
import { gapLines, lostAnswerLines, lowerBoundLines } from './listed-lines.ts';
import { column, duration, figure, paint, tableOf, withNoun, withThousands } from '../terminal/print.ts';

/** The counts of a sync, in the order of their columns. */
const COUNTS = ['asked', 'fresh', 'loaded', 'changed', 'unchanged', 'quarantined', 'truncated', 'points'] as const;
/** Counts whose columns are shown only if one of them is not zero. */
const TROUBLES = ['superseded', 'missing', 'failed', 'unreadable', 'inDoubt', 'left'] as const;

type Count = (typeof COUNTS)[number] | (typeof TROUBLES)[number];

/** The table of the syncs with their total, then details and errors of the syncs, then the next steps. */
export function summaryText(summary: Summary, channel: Channel): string {
  const { syncs, tookMs } = summary;
  const sum = (name: Count): number => syncs.reduce((total, it) => total + it[name], 0);
  const counts: readonly Count[] = [...COUNTS, ...TROUBLES.filter((name) => sum(name) > 0)];
  const valuesOf = (valueOf: (name: Count) => number) => new Map(counts.map((name) => [name, valueOf(name)]));
  const rows = [
    ...syncs.map((it) => ({ ...it, values: valuesOf((name) => it[name]), end: stateOf(it) })),
    { sync: 'total', values: valuesOf(sum), tookMs, end: `exit ${summary.exitCode}` },
  ];
  const figures = tableOf(rows, channel, [
    column('sync', (it) => it.sync),
    ...counts.map((name) =>
      figure(name === 'inDoubt' ? 'in doubt' : name, ({ values }: (typeof rows)[number]) => values.get(name) ?? 0),
    ),
    figure('time', (it) => duration(it.tookMs)),
    column('state', (it) => it.end),
  ]);
  return [
    figures,
    score(syncs),
    ...invocationLines(syncs),
    ...unverifiedLines(syncs),
    ...lostAnswerLines(syncs),
    ...lowerBoundLines(
      syncs
        .flatMap((it) => it.lowerBounds.map((bound) => ({ ...bound, sync: it.sync })))
        .filter((it) => !it.unreadable),
      // Unreadable answers have their own lines; only searches have slices.
      syncs.reduce((total, it) => total + it.truncated - Math.min(it.truncated, it.unreadable), 0),
    ),
    ...earlierBoundLines(syncs),
    ...gapLines(
      syncs.flatMap((it) => it.gaps.map((gap) => ({ ...gap, sync: it.sync }))),
      sum('unreadable'),
    ),
    ...checkLines(
      syncs.flatMap((it) => it.checks.map((check) => ({ ...check, sync: it.sync }))),
      channel,
    ),
    ...endings(syncs, channel),
    ...nextSteps(syncs),
  ].join('');
}

const stateOf = ({ state, continued }: SyncSummary): string =>
  `${state.replaceAll('_', ' ')}${continued ? ' (continued)' : ''}`;

type Quoted = SyncSummary & { readonly quote: QuotedPoints };

/** The points spent compared with the quotes, in one line; empty if nothing was quoted and spent. */
function score(syncs: readonly SyncSummary[]): string {
  const quoted = syncs.filter((it): it is Quoted => it.quote !== null && it.quote.most + it.points > 0);
  if (quoted.length === 0) return '';
  const sum = (valueOf: (it: Quoted) => number): number => quoted.reduce((total, it) => total + valueOf(it), 0);
  const [low, high, spent] = [sum(({ quote }) => quote.low), sum(({ quote }) => quote.high), sum((it) => it.points)];
  const isOver = quoted.every(({ left, inDoubt }) => left + inDoubt === 0);
  const position = placeIn(spent, low, high);
  const verdict = !isOver && spent <= high ? ' so far' : `: ${position}`;
  const further = sum(({ planned, fresh, quote }) => Math.max(0, planned - fresh - quote.requests));
  const because =
    position === 'above' && further > 0 ? `, because answers led to ${withNoun(further, 'further request')}` : '';
  const apart = quoted.length === 1 ? [] : quoted.flatMap((it) => outOfRange(it) ?? []);
  const others = apart.length === 0 ? '' : `; ${apart.join(', ')}`;
  // Until the log shows the cost, the points spent are counted with the same guess.
  const guess = quoted.some(({ quote }) => quote.confidence === 'guess') ? ' (a guess)' : '';
  return `quoted ${rangeOf(low, high)} ${high === 1 && low === 1 ? 'point' : 'points'}${guess}, spent ${withThousands(spent)}${spent > 0 ? sourceOf(quoted, syncs) : ''}${verdict}${because}${others}\n`;
}

/** Where the points come from. Without a limit, only a sync of the log in the same command reads what was charged. */
function sourceOf(quoted: readonly Quoted[], syncs: readonly SyncSummary[]): string {
  if (quoted.every(({ unverified }) => unverified?.requests === 0)) return ' according to the log';
  const mayBeCharges =
    syncs.some(({ endpoint }) => endpoint === LOG_ENDPOINT) ||
    quoted.some(({ unverified, continued }) => unverified !== undefined || continued);
  return mayBeCharges ? '' : ' by the price list';
}

/** The points of this invocation, if they differ from those of the run: limits per run apply to one invocation. */
const invocationLines = (syncs: readonly SyncSummary[]): string[] =>
  syncs.flatMap(({ sync, points, pointsNow }) =>
    pointsNow === undefined || pointsNow === points
      ? []
      : [
          `${escapeControls(sync)}: ${withNoun(pointsNow, 'point')} in this invocation, ${withThousands(points)} since the run started; limits per run apply to one invocation\n`,
        ],
  );

const earlierBoundLines = (syncs: readonly SyncSummary[]): string[] =>
  syncs.flatMap(({ sync, earlierTruncated }) =>
    earlierTruncated === undefined
      ? []
      : [
          `${escapeControls(sync)}: relies on ${withNoun(earlierTruncated, 'lower bound')} of earlier runs; sluice status lists them\n`,
        ],
  );

const unverifiedLines = (syncs: readonly SyncSummary[]): string[] =>
  syncs.flatMap(({ sync, unverified }) =>
    unverified === undefined || unverified.requests === 0
      ? []
      : [
          `${escapeControls(sync)}: ${withNoun(unverified.points, 'point')} for ${withNoun(unverified.requests, 'request')} not verified by the log; they count according to the price list\n`,
        ],
  );

const placeIn = (spent: number, low: number, high: number): string =>
  spent < low ? 'below' : spent > high ? 'above' : 'within';

const rangeOf = (low: number, high: number): string =>
  low === high ? withThousands(low) : `${withThousands(low)} to ${withThousands(high)}`;

/** A sync whose points are outside its range. A run below its range that is not over may still reach it, so it is left out. */
function outOfRange({ sync, quote: { low, high }, points, left, inDoubt }: Quoted): string | undefined {
  const position = placeIn(points, low, high);
  return position === 'within' || (position === 'below' && left + inDoubt > 0)
    ? undefined
    : `${escapeControls(sync)} ${withThousands(points)} of ${rangeOf(low, high)}`;
}

function endings(syncs: readonly SyncSummary[], channel: Channel): string[] {
  return syncs.flatMap(({ sync, error }) =>
    error === null
      ? []
      : [`${paint(channel, 'red', escapeControls(sync))}: ${linesOf(causeOf(sync, error)).join('\n  ')}\n`],
  );
}

/** The error of a sync, without the name of the sync at its start. */
export const causeOf = (sync: string, error: string): string =>
  error.startsWith(`${sync}: `) ? error.slice(sync.length + 2) : error;

const linesOf = (text: string): string[] => text.split('\n').map(escapeControls);

function nextSteps(syncs: readonly SyncSummary[]): string[] {
  const steps = new Set(syncs.flatMap(({ next }) => (next === null ? [] : [next])));
  return [...steps].map((step) => `next: ${linesOf(step).join('\n  ')}\n`);
}
