/** Periods of a budget: UTC days and calendar months, of all syncs or of those with a tag. Pure. */
import type { Budget } from '../../config/definition.ts';
import { dayOf } from '../../day.ts';

/** A period in which points count, and the syncs that they count for. */
export interface SpendingPeriod {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly name: string;
  readonly from: Date;
  /** The end, which is not part of the period. */
  readonly before: Date;
  /** Only the syncs with this tag; undefined for all syncs. */
  readonly tag: BudgetTag | undefined;
}

/** A tag that a budget limits. */
export interface BudgetTag {
  readonly name: string;
  readonly value: string;
}

export type PeriodLength = 'day' | 'month';

/** The period of this length that contains an instant. */
export function periodAt(at: Date, length: PeriodLength, tag?: BudgetTag): SpendingPeriod {
  const name = dayOf(at).slice(0, length === 'day' ? 10 : 7);
  const from = new Date(`${name}${length === 'day' ? '' : '-01'}T00:00:00Z`);
  const before = new Date(from);
  if (length === 'day') before.setUTCDate(before.getUTCDate() + 1);
  else before.setUTCMonth(before.getUTCMonth() + 1);
  return { name, from, before, tag };
}

/** Name of the row that counts the points of a period. */
export const periodCounter = ({ name, tag }: Pick<SpendingPeriod, 'name' | 'tag'>): string =>
  `${name.length > 7 ? 'day' : 'month'}:${name}${tag ? `:${tag.name}=${tag.value}` : ''}`;

/** A limit in points for each period of this length. */
export interface PeriodLimit {
  /** The key of the config, such as `budget.per_day`. */
  readonly what: string;
  readonly points: number;
  readonly length: PeriodLength;
  readonly tag: BudgetTag | undefined;
}

type Limits = { readonly [Key in 'perDay' | 'perMonth']?: number | undefined };

/** The limits of a day and of a month that count all syncs, or the syncs with a tag. */
export function periodLimits({ perDay, perMonth }: Limits, tag?: BudgetTag): readonly PeriodLimit[] {
  const under = tag ? `budget.tags.${tag.name}.${tag.value}` : 'budget';
  return [
    ...(perDay === undefined ? [] : [{ what: `${under}.per_day`, points: perDay, length: 'day' as const, tag }]),
    ...(perMonth === undefined
      ? []
      : [{ what: `${under}.per_month`, points: perMonth, length: 'month' as const, tag }]),
  ];
}

/** The limits of a day and of a month for each tag that a budget limits. */
export const limitsOfTags = ({ tags = [] }: Pick<Budget, 'tags'>): readonly PeriodLimit[] =>
  tags.flatMap(({ tag, value, ...limits }) => periodLimits(limits, { name: tag, value }));
