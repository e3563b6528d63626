/** Formats the output of `sluice plan` for people: a table of quotes, a sentence, and notes. */
import type { Config } from '../../config/definition.ts';
import type { Planned, SyncQuote } from '../../flow/forecast/quote-syncs.ts';
import type { SavedPlan } from '../../plan/saved/saved-plan.ts';
import type { Quote } from '../../plan/pricing/quote.ts';
import type { Channel } from '../terminal/channel.ts';
import { column, duration, fields, figure, tableOf, withNoun, withThousands } from '../terminal/print.ts';

interface PlanTextOptions {
  /** The command that runs the plan. */
  readonly syncCommand: string;
  readonly budget: Config['budget'];
  /** The file with the saved plan; absent if the plan is not saved. */
  readonly saved?: SavedPlanFile | undefined;
  /** Only failed requests are planned (`--failed`). */
  readonly isFailedOnly?: boolean;
}

/** A saved plan and its file. */
export interface SavedPlanFile extends Pick<SavedPlan, 'most' | 'leftOut'> {
  readonly file: string;
}

/** The known balance and the unverified points; empty without a limit in points. */
function moneyLines({ balance, unverified }: Planned, { budget }: PlanTextOptions): string[] {
  const { unknownBalance, ...limits } = budget;
  if (Object.keys(limits).length === 0) return [];
  const { keep } = limits;
  const kept = keep === undefined ? '' : `, budget.keep ${withThousands(keep)}`;
  const least =
    balance !== null && balance.leftAtLeast < balance.leftLikely
      ? `, at least ${withThousands(balance.leftAtLeast)}`
      : '';
  const unknown =
    unknownBalance === 'spend'
      ? 'A run reads the request log first, and buys even if the log shows no balance (budget.unknown_balance: spend).'
      : 'A run reads the request log first, and buys nothing if the log shows no balance.';
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
          `Not verified by the log: ${withNoun(unverified.points, 'point')} for ${withNoun(unverified.requests, 'request')} of earlier runs.`,
        ]),
  ];
}

/** The text, with a line break at the end. */
export function planText(planned: Planned, options: PlanTextOptions, channel: Channel): string {
  const { syncs, total } = planned;
  const points = (name: 'low' | 'likely' | 'most') =>
    figure(name, (it: Quote) => `${withThousands(it[name])}${it.mayGrow ? '+' : ''}`);
  const quotes = tableOf([...syncs, { sync: 'total', endpoint: '', ...total }], channel, [
    ...fields('sync', 'endpoint'),
    figure('fresh', (it) => it.fresh),
    figure('to send', (it) => it.requests - it.fresh),
    points('low'),
    points('likely'),
    points('most'),
    column('confidence', (it) => (it.most > 0 ? it.confidence : '')),
    figure('least time', (it) => (it.leastMs === 0 ? '' : duration(it.leastMs))),
  ]);
  return `${quotes}${planLines(planned, options).join('\n')}\n`;
}

/** What the table of quotes does not show: a summary, the balance, notes and the next step, one line each. */
export function planLines(planned: Planned, options: PlanTextOptions): readonly string[] {
  const { syncs, total } = planned;
  return [
    sentence(syncs, total, options.isFailedOnly),
    ...moneyLines(planned, options),
    ...notes(syncs, total, options),
  ];
}

/** Notes about what the figures leave out, and the next step if there are requests to send. */
function notes(
  syncs: readonly SyncQuote[],
  total: Quote,
  { syncCommand, budget: { perRun }, saved }: PlanTextOptions,
): string[] {
  const waiting = syncs.filter(({ waitsFor }) => waitsFor.length > 0);
  const readings = waiting.map(
    ({ sync, waitsFor }) =>
      `${sync} reads rows that ${waitsFor.join(' and ')} would load first: this plan uses the current rows.`,
  );
  const continued = syncs.flatMap(({ sync, continues, requests, fresh }) =>
    continues === null || requests === fresh
      ? []
      : [`${sync}: the remaining requests of run ${continues}, which was stopped.`],
  );
  const shared = syncs
    .filter((it) => it.shared > 0)
    .map(
      (it) =>
        `${it.sync}: an earlier sync sends ${withNoun(it.shared, 'request')} of this one too; a run sends each once, and each quote includes it.`,
    );
  const failing = syncs.filter((it) => it.failing > 0);
  const gaps = failing.map(
    (it) =>
      `${it.sync}: ${withNoun(it.failing, 'request')} not sent, because the last answers could not be read or never arrived; to send again, run sluice sync --refresh ${it.sync}.`,
  );
  const forgotten = syncs
    .filter((it) => it.forgotten > 0)
    .map((it) => `${it.sync}: left out because of a forgotten entity: ${withNoun(it.forgotten, 'request')}.`);
  if (total.requests === total.fresh && !saved) return [...readings, ...gaps, ...forgotten];
  const isBounded = perRun !== undefined && total.most > perRun;
  return [
    ...readings,
    ...continued,
    ...shared,
    ...gaps,
    ...forgotten,
    ...(isBounded
      ? [`A run stops at ${withNoun(perRun, 'point')} (budget.per_run); the remaining requests stay planned.`]
      : []),
    ...(saved?.leftOut ?? []).map(({ sync, because }) => `${sync} is not part of the saved plan: ${because}.`),
    ...(saved ? [`Saved in ${saved.file}: a run of it spends at most ${withNoun(saved.most, 'point')}.`] : []),
    `next: ${syncCommand}`,
  ];
}

function sentence(planned: readonly SyncQuote[], total: Quote, isFailedOnly = false): string {
  const syncs = planned.length;
  const { requests, fresh, mostRequests, mayGrow: grows, leastMs } = total;
  const toSend = requests - fresh;
  if (requests === 0)
    return planned.some(({ failing }) => failing > 0)
      ? 'Nothing to send now.'
      : `Nothing to send: ${isFailedOnly ? 'nothing failed in the last runs' : 'there are no inputs'}.`;
  if (toSend === 0)
    return `Nothing to send: ${withNoun(fresh, 'request')} of ${withNoun(syncs, 'sync')} ${fresh === 1 ? 'is' : 'are'} fresh.`;
  const skipped =
    fresh === 0 ? '' : `; ${withThousands(fresh)} more ${fresh === 1 ? 'is' : 'are'} fresh and not bought again`;
  const parts =
    mostRequests > toSend
      ? ` Full answers are split and requested in parts: at most ${withNoun(mostRequests, 'request')}.`
      : '';
  const more = grows ? ' Pages of the log can lead to further requests (+).' : '';
  // The first request does not wait.
  const least = leastMs === 0 ? '' : `, in ${duration(leastMs)} or more`;
  return `${withNoun(syncs, 'sync')} would send ${withNoun(toSend, 'request')} for ${cost(total)}${least}${skipped}.${parts}${more}`;
}

/** The points in words, with their confidence. A plan that may grow has no maximum. */
function cost({ low, likely, high, most, confidence, samples, mayGrow: grows }: Quote): string {
  if (most === 0) return 'no points';
  const rows = withNoun(samples, 'logged request');
  const because = {
    guess: 'a guess: the request log does not show all of these prices yet',
    some: `some confidence: based on ${rows}`,
    good: `good confidence: ${rows} agree`,
  }[confidence];
  const orMore = grows ? ' or more' : '';
  if (confidence === 'guess' && grows)
    return `${low === high ? '' : 'about '}${withNoun(likely, 'point')}${orMore} (${because})`;
  const usual = low === high ? '' : `likely ${withThousands(likely)}; `;
  if (confidence === 'guess') return `at most ${withNoun(most, 'point')} (${usual}${because})`;
  const range = low === high ? withNoun(likely, 'point') : `${withThousands(low)} to ${withNoun(high, 'point')}`;
  const limit = most > high && !grows ? `, at most ${withThousands(most)}` : '';
  return `${range}${orMore} (${usual}${because})${limit}`;
}
