/** A run's summary as people read it: a line a sync, their sum, what went wrong and what to do next. */
import type { QuotedPoints, Summary, SyncSummary } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from '../terminal/channel.ts';
import { lostAnswerLines } from './lost-answer-lines.ts';
import { gapLines, lowerBoundLines } from './lower-bounds.ts';
import { withNoun, duration, withThousands, paint, table } from '../terminal/print.ts';

type Count = 'asked' | 'fresh' | 'loaded' | 'changed' | 'unchanged' | 'quarantined' | 'truncated' | 'points';
/** Shown only when there is something to show. */
type Trouble = 'superseded' | 'missing' | 'failed' | 'unreadable' | 'inDoubt' | 'left';

const COUNTS: Readonly<Record<Count, string>> = {
  asked: 'asked',
  fresh: 'fresh',
  loaded: 'loaded',
  changed: 'changed',
  unchanged: 'unchanged',
  quarantined: 'quarantined',
  truncated: 'truncated',
  points: 'points',
};
const TROUBLES: Readonly<Record<Trouble, string>> = {
  superseded: 'superseded',
  missing: 'missing',
  failed: 'failed',
  unreadable: 'unreadable',
  inDoubt: 'in doubt',
  left: 'left',
};

/** The table of the syncs with their sum, then a line for each that did not end well, then the next steps. */
export function summaryText(summary: Summary, channel: Channel): string {
  const { syncs, tookMs } = summary;
  const sum = (name: Count | Trouble): number => syncs.reduce((total, it) => total + it[name], 0);
  const troubles = (Object.keys(TROUBLES) as Trouble[]).filter((name) => sum(name) > 0);
  const counts = [...(Object.keys(COUNTS) as Count[]), ...troubles];
  const columns = [
    { name: 'sync' },
    ...counts.map((name) => ({ name: { ...COUNTS, ...TROUBLES }[name], align: 'right' as const })),
    { name: 'time', align: 'right' as const },
    { name: 'state' },
  ];
  const rows = [
    ...syncs.map((it) => [it.sync, ...counts.map((name) => withThousands(it[name])), duration(it.tookMs), stateOf(it)]),
    ['total', ...counts.map((name) => withThousands(sum(name))), duration(tookMs), `exit ${summary.exitCode}`],
  ];
  return [
    table(columns, rows, channel),
    score(syncs),
    ...invocationLines(syncs),
    ...unverifiedLines(syncs),
    ...lostAnswerLines(syncs),
    ...lowerBoundLines(
      syncs
        .flatMap((it) => it.lowerBounds.map((bound) => ({ ...bound, sync: it.sync })))
        .filter((it) => !it.unreadable),
      // What could not be read has lines of its own; only searches have slices.
      syncs.reduce((total, it) => total + it.truncated - Math.min(it.truncated, it.unreadable), 0),
    ),
    ...gapLines(
      syncs.flatMap((it) => it.gaps.map((gap) => ({ ...gap, sync: it.sync }))),
      sum('unreadable'),
    ),
    ...endings(syncs, channel),
    ...nextSteps(syncs),
  ].join('');
}

const stateOf = ({ state, continued }: SyncSummary): string =>
  `${state.replaceAll('_', ' ')}${continued ? ' (continued)' : ''}`;

type Quoted = SyncSummary & { readonly quote: QuotedPoints };

/** How what was spent compares with the quotes, in one line; nothing when nothing was to be paid. */
function score(syncs: readonly SyncSummary[]): string {
  const quoted = syncs.filter((it): it is Quoted => it.quote !== null && it.quote.most + it.points > 0);
  if (quoted.length === 0) return '';
  const sum = (of: (it: Quoted) => number): number => quoted.reduce((total, it) => total + of(it), 0);
  const [low, high, spent] = [sum(({ quote }) => quote.low), sum(({ quote }) => quote.high), sum((it) => it.points)];
  const isOver = quoted.every(({ left, inDoubt }) => left + inDoubt === 0);
  const verdict = !isOver && spent <= high ? 'so far' : placeIn(spent, low, high);
  const further = sum(({ planned, fresh, quote }) => Math.max(0, planned - fresh - quote.requests));
  const because =
    verdict === 'above' && further > 0 ? `, as answers led to ${withNoun(further, 'further request')}` : '';
  const apart = quoted.length === 1 ? [] : quoted.flatMap((it) => outOfRange(it) ?? []);
  const others = apart.length === 0 ? '' : `; ${apart.join(', ')}`;
  // What was guessed is spent by the same guess, until the log tells.
  const guess = quoted.some(({ quote }) => quote.sure === 'guess') ? ' by a guess' : '';
  const byLog = spent > 0 && quoted.every((it) => it.unverified?.requests === 0) ? ' by the log' : '';
  return `quoted ${rangeOf(low, high)} ${high === 1 && low === 1 ? 'point' : 'points'}${guess}, spent ${withThousands(spent)}${byLog}: ${verdict}${because}${others}\n`;
}

/** Limits per run hold for one invocation, so a run that is continued may have more points than they allow. */
const invocationLines = (syncs: readonly SyncSummary[]): string[] =>
  syncs.flatMap(({ sync, points, pointsNow }) =>
    pointsNow === undefined || pointsNow === points
      ? []
      : [
          `${escapeControls(sync)}: ${withNoun(pointsNow, 'point')} in this invocation, ${withThousands(points)} since the run began; limits per run hold for one invocation\n`,
        ],
  );

const unverifiedLines = (syncs: readonly SyncSummary[]): string[] =>
  syncs.flatMap(({ sync, unverified }) =>
    unverified === undefined || unverified.requests === 0
      ? []
      : [
          `${escapeControls(sync)}: ${withNoun(unverified.points, 'point')} for ${withNoun(unverified.requests, 'request')} not verified by the log; they count by the price list\n`,
        ],
  );

const placeIn = (spent: number, low: number, high: number): string =>
  spent < low ? 'below' : spent > high ? 'above' : 'within';

const rangeOf = (low: number, high: number): string =>
  low === high ? withThousands(low) : `${withThousands(low)} to ${withThousands(high)}`;

/** A run that is not over may still come to lie in its range. */
function outOfRange({ sync, quote: { low, high }, points, left, inDoubt }: Quoted): string | undefined {
  const place = placeIn(points, low, high);
  return place === 'within' || (place === 'below' && left + inDoubt > 0)
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

/** Why a sync did not end well, without its name where that comes first. */
export const causeOf = (sync: string, error: string): string =>
  error.startsWith(`${sync}: `) ? error.slice(sync.length + 2) : error;

const linesOf = (text: string): string[] => text.split('\n').map(escapeControls);

function nextSteps(syncs: readonly SyncSummary[]): string[] {
  const steps = new Set(syncs.flatMap(({ next }) => (next === null ? [] : [next])));
  return [...steps].map((step) => `next: ${linesOf(step).join('\n  ')}\n`);
}
