/** Formats the output of `plan --for` for people. */
import type { ForecastScore } from '../../ledger/forecasts.ts';
import type { LimitDays, SpendingForecast } from '../../plan/forecast/spending-forecast.ts';
import type { PointsRange } from '../../plan/forecast/scheduled-points.ts';
import type { Channel } from '../terminal/channel.ts';
import { heading } from '../terminal/paragraph.ts';
import { column, fields, figure, tableOf, withNoun, withThousands } from '../terminal/print.ts';

/** A forecast with the scores of earlier ones, as `--json` prints it. */
export interface PrintedForecast extends SpendingForecast {
  /** Earlier forecasts compared with what was spent, newest first. */
  readonly scores: readonly ForecastScore[];
  /** False if the role has no right to write; then later forecasts are not compared with this one. */
  readonly isSaved: boolean;
  readonly assumptions: readonly string[];
}

/** What the figures of a forecast assume. */
export const FORECAST_ASSUMPTIONS: readonly string[] = [
  'Inputs, stored answers and prices are those of this warehouse now; an input file is read as it is now.',
  'A request counts at the first firing at which its answer is older than max_age, or a day of its window ended since; a learned max_age stays as it is now.',
  'A request that several syncs share counts for each of them.',
  'After the first firing, a window counts the days since the firing before, and the lookback.',
  'A sync without a schedule runs when its parents end; a sync that nothing fires is not in the forecast.',
  'low and high add up the ranges of all requests, which holds nine of ten costs of each.',
  'Limits do not lower the figures: they show what the schedules need.',
];

/** The text, with a line break at the end. */
export function forecastText(forecast: PrintedForecast, channel: Channel): string {
  const { syncs, total, days, tags, scores, isSaved, assumptions } = forecast;
  const unsaved = isSaved ? [] : ['This forecast was not saved, because the role has no right to write.'];
  const points = ['low', 'likely', 'high'] as const;
  const ranges = points.map((name) => figure(name, (it: PointsRange) => Math.round(it[name])));
  const last = { ...total, sync: 'total', endpoint: '', firings: null, questions: null, confidence: null };
  const isKnown = days.some(({ leftLikely }) => leftLikely !== null);
  const bySync = tableOf([...syncs, last], channel, [
    ...fields('sync', 'endpoint'),
    figure('firings', (it) => it.firings),
    figure('to send', (it) => it.questions),
    ...ranges,
    column('confidence', (it) => (it.confidence === null || it.high === 0 ? '' : it.confidence)),
  ]);
  const tables = [
    [
      'by day',
      tableOf(days, channel, [
        column('day', (it) => it.date),
        ...ranges,
        ...(isKnown
          ? [
              figure('left', (it: (typeof days)[number]) => it.leftLikely),
              figure('left at least', (it: (typeof days)[number]) => it.leftAtLeast),
            ]
          : []),
      ]),
    ],
    ['by tag', tableOf(tags, channel, [column('tag', ({ tag, value }) => `${tag}=${value}`), ...ranges])],
    [
      'earlier forecasts',
      tableOf(scores, channel, [
        column('made on', (it) => it.madeOn),
        figure('days', (it) => it.days),
        ...ranges,
        figure('spent', (it) => it.spent),
        figure('off', ({ likely, spent }) => (likely > 0 ? `${Math.round((spent / likely - 1) * 100)} %` : '')),
      ]),
    ],
  ] as const;
  return [
    bySync,
    ...tables.map(([title, text]) => (text === '' ? '' : heading(title, channel) + text)),
    `\n${[sentence(forecast), ...limitLines(forecast), ...unsaved, ...assumptions].join('\n')}\n`,
  ].join('');
}

function sentence({ from, until, total }: SpendingForecast): string {
  const range = `${withThousands(Math.floor(total.low))} to ${withThousands(Math.ceil(total.high))}`;
  return `The schedules need ${withNoun(Math.round(total.likely), 'point')} (${range}) from ${from.slice(0, 16)} to ${until.slice(0, 16)} UTC.`;
}

function limitLines({ balance, budgets }: SpendingForecast): string[] {
  const lines = budgets.map(
    ({ budget, limit, ...days }) => `${budget}, ${withThousands(limit)}: ${reachedText(days)}.`,
  );
  if (!balance) return [...lines, 'Balance: unknown; a sync of the request log shows it.'];
  const { points, at, keep, ...days } = balance;
  const kept = keep > 0 ? `budget.keep, ${withThousands(keep)}, of the` : 'The';
  return [...lines, `${kept} balance of ${withNoun(points, 'point')} as of ${at}: ${reachedText(days)}.`];
}

function reachedText({ earliest, likely }: LimitDays): string {
  if (likely !== null)
    return earliest === likely ? `reached on ${likely}` : `reached on ${likely}, ${earliest} at the earliest`;
  return earliest === null ? 'not reached' : `likely not reached, ${earliest} at the earliest`;
}
