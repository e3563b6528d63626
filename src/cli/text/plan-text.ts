/** What `sluice plan` prints for people: a table of quotes, a sentence, and notes. */
import type { Config } from '../../config/definition.ts';
import type { UnverifiedPoints } from '../../ledger/summary.ts';
import type { Level, Confidence } from '../../plan/pricing/price-book.ts';
import type { Quote } from '../../plan/pricing/quote.ts';
import type { Channel } from '../terminal/channel.ts';
import { withNoun, duration, withThousands, table } from '../terminal/print.ts';

/** What a plan comes to: quotes, the balance, and the prices that they rest on. */
export interface Planned {
  readonly syncs: readonly SyncQuote[];
  readonly total: Quote;
  /** Points left, and what the plan would leave; null while the warehouse does not know. */
  readonly balance: PlannedBalance | null;
  /** Requests of earlier runs whose cost the request log has not confirmed. */
  readonly unverified: UnverifiedPoints;
  /** By endpoint, what its calls cost in the request log, by items asked for and returned. */
  readonly prices: Readonly<Record<string, readonly Level[]>>;
}

/** The balance, and what the plan would leave of it. */
interface PlannedBalance {
  /** Points left by the request log, less what was sent since. */
  readonly points: number;
  /** When the log was read, or when the logged request started. */
  readonly at: string;
  /** What the plan would leave, by its likely cost and at least. */
  readonly leftLikely: number;
  readonly leftAtLeast: number;
}

export interface SyncQuote extends Quote {
  readonly sync: string;
  readonly endpoint: string;
  /** Requests that are listed as failing and not asked again; they count in no other figure. */
  readonly failing: number;
  /** Syncs of the same plan that would first bring what this one's query reads. */
  readonly waitsFor: readonly string[];
  /** The run that was stopped and would be continued; null where a new one would begin. */
  readonly continues: string | null;
}

const SURE: Readonly<Record<Confidence, string>> = { guess: 'a guess', some: 'fairly', good: 'yes' };

interface Asked {
  /** The command that runs what was planned. */
  readonly syncCommand: string;
  readonly budget: Config['budget'];
}

/** The balance as far as it is known, and what was spent without being confirmed; nothing without a limit in points. */
function moneyLines({ balance, unverified }: Planned, { budget }: Asked): string[] {
  const { keep, perRun, perDay, unknownBalance } = budget;
  if (keep === undefined && perRun === undefined && perDay === undefined) return [];
  const kept = keep === undefined ? '' : `, budget.keep ${withThousands(keep)}`;
  const least =
    balance !== null && balance.leftAtLeast < balance.leftLikely
      ? `, at least ${withThousands(balance.leftAtLeast)}`
      : '';
  const unknown =
    unknownBalance === 'spend'
      ? 'A run reads the request log before it buys, and buys also if that shows none (budget.unknown_balance: spend).'
      : 'A run reads the request log before it buys, and buys nothing if that shows none.';
  return [
    ...(balance === null && keep !== undefined ? [`Balance: unknown. ${unknown}`] : []),
    ...(balance === null
      ? []
      : [
          `Balance: ${withNoun(balance.points, 'point')} as of ${balance.at}; this plan would leave ${withThousands(balance.leftLikely)}${least}${kept}.`,
        ]),
    ...(unverified.requests === 0
      ? []
      : [
          `Of earlier runs, ${withNoun(unverified.points, 'point')} for ${withNoun(unverified.requests, 'request')} are not verified by the log.`,
        ]),
  ];
}

export function planText(planned: Planned, asked: Asked, channel: Channel): string {
  const { syncs, total } = planned;
  const columns = [
    { name: 'sync' },
    { name: 'endpoint' },
    ...['fresh', 'to ask', 'low', 'likely', 'most'].map((name) => ({ name, align: 'right' as const })),
    { name: 'sure' },
    { name: 'least time', align: 'right' as const },
  ];
  const rows = [...syncs, { sync: 'total', endpoint: '', ...total }].map((it) => [
    it.sync,
    it.endpoint,
    withThousands(it.fresh),
    withThousands(it.requests - it.fresh),
    ...[it.low, it.likely, it.most].map((points) => `${withThousands(points)}${it.mayGrow ? '+' : ''}`),
    it.most > 0 ? SURE[it.sure] : '',
    it.leastMs === 0 ? '' : duration(it.leastMs),
  ]);
  const lines = [sentence(syncs, total), ...moneyLines(planned, asked), ...notes(syncs, total, asked)];
  return `${table(columns, rows, channel)}${lines.join('\n')}\n`;
}

/** What the figures leave out, and what to do next; nothing when there is nothing to ask. */
function notes(syncs: readonly SyncQuote[], total: Quote, { syncCommand, budget: { perRun } }: Asked): string[] {
  const waiting = syncs.filter(({ waitsFor }) => waitsFor.length > 0);
  const readings = waiting.map(
    ({ sync, waitsFor }) =>
      `${sync} reads what ${waitsFor.join(' and ')} would bring first: it is planned on what is there now.`,
  );
  const continued = syncs.flatMap(({ sync, continues, requests, fresh }) =>
    continues === null || requests === fresh ? [] : [`${sync}: what run ${continues} left when it was stopped.`],
  );
  const failing = syncs.filter((it) => it.failing > 0);
  const gaps = failing.map(
    (it) =>
      `${it.sync}: ${withNoun(it.failing, 'request')} not asked, as the last answers could not be read or never arrived; sluice sync --refresh ${it.sync} asks again.`,
  );
  if (total.requests === total.fresh) return [...readings, ...gaps];
  const isBounded = perRun !== undefined && total.most > perRun;
  return [
    ...readings,
    ...continued,
    ...gaps,
    ...(isBounded
      ? [`A run stops at ${withNoun(perRun, 'point')}, as budget.per_run says; what is left stays planned.`]
      : []),
    `next: ${syncCommand}`,
  ];
}

function sentence(planned: readonly SyncQuote[], total: Quote): string {
  const syncs = planned.length;
  const { requests, fresh, mostRequests, mayGrow: grows, leastMs } = total;
  const asked = requests - fresh;
  if (requests === 0)
    return planned.some(({ failing }) => failing > 0)
      ? 'Nothing to ask for now.'
      : 'Nothing to ask: there are no inputs.';
  if (asked === 0)
    return `Nothing to ask: ${withNoun(fresh, 'request')} of ${withNoun(syncs, 'sync')} ${fresh === 1 ? 'is' : 'are'} fresh.`;
  const skipped =
    fresh === 0 ? '' : `; ${withThousands(fresh)} more ${fresh === 1 ? 'is' : 'are'} fresh and not bought again`;
  const parts =
    mostRequests > asked
      ? ` Full answers are asked for again in parts: at most ${withNoun(mostRequests, 'request')}.`
      : '';
  const more = grows ? ' The pages of the log lead to further requests (+).' : '';
  // A first request waits for nothing.
  const least = leastMs === 0 ? '' : `, in ${duration(leastMs)} or more`;
  return `${withNoun(syncs, 'sync')} would send ${withNoun(asked, 'request')} for ${cost(total)}${least}${skipped}.${parts}${more}`;
}

/** The points in words, with how sure they are. A plan that may grow has no upper bound. */
function cost({ low, likely, high, most, sure, samples, mayGrow: grows }: Quote): string {
  if (most === 0) return 'no points';
  const rows = withNoun(samples, 'logged request');
  const because = {
    guess: 'by a guess: the request log does not show all of these prices yet',
    some: `fairly sure: by ${rows}`,
    good: `sure: ${rows} agree`,
  }[sure];
  const orMore = grows ? ' or more' : '';
  if (sure === 'guess' && grows)
    return `${low === high ? '' : 'about '}${withNoun(likely, 'point')}${orMore} (${because})`;
  const usual = low === high ? '' : `likely ${withThousands(likely)}; `;
  if (sure === 'guess') return `at most ${withNoun(most, 'point')} (${usual}${because})`;
  const range = low === high ? withNoun(likely, 'point') : `${withThousands(low)} to ${withNoun(high, 'point')}`;
  const limit = most > high && !grows ? `, at most ${withThousands(most)}` : '';
  return `${range}${orMore} (${usual}${because})${limit}`;
}
