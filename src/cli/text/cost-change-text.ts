/** Formats what a change of the config costs a month, as text and as Markdown. */
import { type CostChange, MONTH_DAYS, type MonthlyCost, type SyncCostChange } from '../../plan/forecast/cost-change.ts';
import { displayText } from '../../text/display-text.ts';
import type { Channel } from '../terminal/channel.ts';
import { column, figure, type PrintedColumn, tableOf, withNoun, withThousands } from '../terminal/print.ts';

/** The comparison of two configs. */
export interface PricedChange {
  /** The file or the revision of the config before the change. */
  readonly against: string;
  /** Days that the figures cover. */
  readonly days: number;
  readonly syncs: readonly SyncCostChange[];
  readonly total: CostChange;
  readonly assumptions: readonly string[];
  /** The allowed increase in points; null without a limit. */
  readonly failAbove: number | null;
  /** True if the increase is above the limit. */
  readonly isAbove: boolean;
}

/** What the figures assume. */
export const ASSUMPTIONS: readonly string[] = [
  `The figures are likely points in the ${MONTH_DAYS} days from now, for the firings of the schedules in that time.`,
  'Stored answers and prices are those of this warehouse now. With a revision, input files of the repository are those of the revision; others are read as they are now.',
  'A request counts at the first firing at which its answer is older than max_age, or a day of its window ended since.',
  'A request that several syncs share counts for each of them.',
  'After the first firing, a window counts the days since the firing before, and the lookback.',
  'A sync without a schedule runs when its parents end; if nothing fires it, one run is counted.',
];

type Row = SyncCostChange | { readonly sync: string; readonly total: CostChange };

const costIn = (cost: MonthlyCost | null): string => (cost === null ? '' : withThousands(cost.likely));

const signed = (points: number): string => `${points > 0 ? '+' : ''}${withThousands(points)}`;

/** "30", "12 -> 30", "once" or "new". */
function firingsOf({ before, after }: SyncCostChange): string {
  const [one, other] = [before, after].map((it) =>
    it === null ? '' : it.firings === null ? 'once' : String(it.firings),
  );
  return one === '' || other === '' || one === other ? `${one === '' ? other : one}` : `${one} -> ${other}`;
}

const COLUMNS: readonly PrintedColumn<Row>[] = [
  column('sync', ({ sync }) => sync),
  column('endpoint', (it) => ('total' in it ? '' : ((it.after ?? it.before)?.endpoint ?? ''))),
  figure('firings', (it) => ('total' in it ? '' : firingsOf(it))),
  figure('before', (it) => ('total' in it ? it.total.before : costIn(it.before))),
  figure('after', (it) => ('total' in it ? it.total.after : costIn(it.after))),
  figure('change', (it) => signed('total' in it ? it.total.change : it.change)),
  column('confidence', (it) => {
    const cost = 'total' in it ? null : (it.after ?? it.before);
    return cost === null || cost.high === 0 ? '' : cost.confidence;
  }),
];

const rowsOf = ({ syncs, total }: PricedChange): readonly Row[] => [...syncs, { sync: 'total', total }];

function verdict({ against, total: { before, after, change }, failAbove, isAbove }: PricedChange): string {
  const how = change === 0 ? 'the same' : `${withNoun(Math.abs(change), 'point')} ${change > 0 ? 'more' : 'less'}`;
  const limit =
    failAbove === null
      ? ''
      : ` This is ${isAbove ? 'above' : 'within'} the allowed increase of ${withNoun(failAbove, 'point')} (--fail-above).`;
  return `A month costs ${how} than with ${against}: ${withThousands(before)} before, ${withThousands(after)} after.${limit}`.replace(
    'the same than with',
    'the same as with',
  );
}

/** The comparison as text, with a line break at the end. */
export const costChangeText = (priced: PricedChange, channel: Channel): string =>
  `${tableOf(rowsOf(priced), channel, COLUMNS)}${[verdict(priced), ...priced.assumptions].join('\n')}\n`;

/** The comparison as Markdown for a comment on a pull request. */
export function costChangeMarkdown(priced: PricedChange): string {
  const cell = (value: unknown): string => displayText(value).replaceAll('|', String.raw`\|`);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '### Points a month of this change',
    '',
    verdict(priced),
    '',
    line(COLUMNS.map(({ name }) => name)),
    line(COLUMNS.map(({ align }) => (align === 'right' ? '--:' : '---'))),
    ...rowsOf(priced).map((row) => line(COLUMNS.map((it) => cell(it.cell(row))))),
    '',
    '<details><summary>Assumptions</summary>',
    '',
    ...priced.assumptions.map((it) => `- ${it}`),
    '',
    '</details>',
    '',
  ].join('\n');
}
