/** A run's summary as people read it: a line a sync, their sum, what went wrong and what to do next. */
import type { Summary, SyncSummary } from '../ops/summary.ts';
import { visible } from '../ops/visible.ts';
import type { Channel } from './context.ts';
import { duration, grouped, paint, table } from './print.ts';

type Count = 'sent' | 'fresh' | 'loaded' | 'unchanged' | 'quarantined' | 'truncated' | 'points';
/** Shown only when there is something to show. */
type Trouble = 'superseded' | 'missing' | 'failed' | 'inDoubt' | 'left';

const COUNTS: Readonly<Record<Count, string>> = {
  sent: 'asked',
  fresh: 'fresh',
  loaded: 'loaded',
  unchanged: 'unchanged',
  quarantined: 'quarantined',
  truncated: 'truncated',
  points: 'points',
};
const TROUBLES: Readonly<Record<Trouble, string>> = {
  superseded: 'superseded',
  missing: 'missing',
  failed: 'failed',
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
    ...syncs.map((it) => [it.sync, ...counts.map((name) => grouped(it[name])), duration(it.tookMs), stateOf(it)]),
    ['total', ...counts.map((name) => grouped(sum(name))), duration(tookMs), `exit ${summary.exitCode}`],
  ];
  return [table(columns, rows, channel), ...endings(syncs, channel), ...nextSteps(syncs)].join('');
}

const stateOf = ({ state, continued }: SyncSummary): string =>
  `${state.replaceAll('_', ' ')}${continued ? ' (continued)' : ''}`;

function endings(syncs: readonly SyncSummary[], channel: Channel): string[] {
  return syncs.flatMap(({ sync, error }) =>
    error === null ? [] : [`${paint(channel, 'red', visible(sync))}: ${linesOf(error).join('\n  ')}\n`],
  );
}

const linesOf = (text: string): string[] => text.split('\n').map(visible);

function nextSteps(syncs: readonly SyncSummary[]): string[] {
  const steps = new Set(syncs.flatMap(({ next }) => (next === null ? [] : [next])));
  return [...steps].map((step) => `next: ${linesOf(step).join('\n  ')}\n`);
}
