/** Adds up points by the tags of runs, with a bounded number of label values. Pure. */
import type { MetricSample } from './metrics.ts';

/** A tag with a value. */
export interface MetricTag {
  readonly tag: string;
  readonly value: string;
}

/** Requests whose runs have the same tags. */
interface TaggedPoints {
  readonly tags: Readonly<Record<string, string>> | null;
  readonly points: number;
}

/** The greatest number of tags with labels of their own. */
const MOST_TAGS = 500;
/** The label of all others; no tag of a config can have this name or value. */
const OTHER = '(other)';

/** The points of each declared tag, those with the most points first if there are too many, and of all others together. */
export function pointsByTag(rows: readonly TaggedPoints[], declared: readonly MetricTag[]): readonly MetricSample[] {
  const labelled = new Set(declared.map(keyOf));
  const spent = new Map<string, MetricTag & { points: number }>();
  const add = ({ tag, value }: MetricTag, points: number): void => {
    const key = keyOf({ tag, value });
    spent.set(key, { tag, value, points: (spent.get(key)?.points ?? 0) + points });
  };
  for (const { tags, points } of rows)
    for (const [tag, value] of Object.entries(tags ?? {})) add({ tag, value }, points);
  const sums = [...spent.values()].toSorted((a, b) => b.points - a.points);
  const kept = sums.filter((it) => labelled.has(keyOf(it))).slice(0, MOST_TAGS);
  const keptKeys = new Set(kept.map(keyOf));
  const names = new Set(kept.map(({ tag }) => tag));
  for (const it of sums.filter((sum) => !keptKeys.has(keyOf(sum)))) {
    spent.delete(keyOf(it));
    add({ tag: names.has(it.tag) ? it.tag : OTHER, value: OTHER }, it.points);
  }
  return [...spent.values()].map(({ tag, value, points }) => ({ labels: [tag, value], value: points }));
}

const keyOf = ({ tag, value }: MetricTag): string => `${tag}=${value}`;
