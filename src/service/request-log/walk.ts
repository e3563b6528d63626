/**
 * The walk through the request log, whose order, cursor edge, ties and page size are documented nowhere: right for every
 * answer they could have. Rows that tie across a page edge are read again rather than lost.
 */
import { instantOf, instantText } from '../instant.ts';
import { type LogPage, logPage, type LogRow } from './page.ts';
import type { Follow, Paging, PageStep } from '../paging.ts';

const DONE: Follow = { requests: [] };

/**
 * Pages that the walk looks back at. Rows can come again only around the cursor, and an instant that fills pages is
 * stepped over after the fourth, so these hold all that came before and two instants to tell the direction from.
 */
export const LOOK_BACK = 6;

/**
 * Rows that started so long after the run are left to the next: in a log that grows as fast as it is read, a walk from
 * its old end would never come to the new one. By our clock; a service's that is behind makes the walk longer.
 */
const GROWTH_MICROS = 60_000_000n;

/**
 * Pages by `cursor`, a `started_at`. The next cursor is the last row's instant, moved back against the direction by what
 * the log may not write of it; the walk ends on an empty page, or on one with room left and no unseen row. A short
 * page alone proves nothing.
 */
export const logWalk: Paging = {
  by: 'cursor',
  ownFields: ['cursor'],
  follow: (steps) => {
    const recent = steps.slice(-LOOK_BACK);
    const step = recent.at(-1);
    const pages = recent.map(logPage);
    const last = pages.at(-1);
    const final = last?.rows.at(-1);
    if (!step || !last || !final) return DONE;
    const before = pages.slice(0, -1);
    const news = unseen(last, before);
    const direction = directionOf(pages);
    if (news.length === 0 && !mayGoOn(last, before)) return DONE;
    if (direction !== undefined && isBeyondWindow(last, final, direction)) return DONE;
    if (direction === 1n && news.length > 0 && (isGrowth(step, last, news) || bringsReadings(pages))) return DONE;
    const cursor = nextCursor(last, final, direction);
    if (cursor === undefined)
      return last.rows.length === last.limit ? { requests: [], lowerBound: STANDING_STILL } : DONE;
    const requests = [{ ...step.request, cursor: instantText(cursor, last.offset) }];
    const filled = filledPage(pages, news.length > 0);
    return filled ? { requests, lowerBound: lowerBoundOf(filled) } : { requests };
  },
};

const STANDING_STILL = 'a full page of the log came again whatever the cursor: what lies beyond it can’t be seen';

const lowerBoundOf = ({ rows }: LogPage): string =>
  `${rows.length} rows of one instant (${instantText(rows[0]?.at ?? 0n)}): more of them can't be seen`;

const isOneInstant = ({ rows }: LogPage): boolean => rows.every(({ at }) => at === rows[0]?.at);

function unseen(page: LogPage, before: readonly LogPage[]): readonly LogRow[] {
  const seen = new Set(before.flatMap(({ rows }) => rows.map(({ id }) => id)));
  return page.rows.filter(({ id }) => !seen.has(id));
}

/** A page that was short though more followed: the service gives fewer rows at once than it is asked for. */
const hadMore = (pages: readonly LogPage[]): boolean =>
  pages.some(
    ({ rows, limit }, at) =>
      rows.length < limit &&
      at < pages.length - 1 &&
      unseen(pages[at + 1] as LogPage, pages.slice(0, at + 1)).length > 0,
  );

/** Rows at which the service cuts a page; undefined when no page was cut as far as is known. */
function pageSize(pages: readonly LogPage[]): number | undefined {
  const most = Math.max(0, ...pages.map(({ rows }) => rows.length));
  const limit = pages.at(-1)?.limit ?? 0;
  return most >= limit ? limit : hadMore(pages) ? most : undefined;
}

/**
 * True of a page without news that may hide some all the same: it is as long as a page can be, or pages are known to
 * end early. One that is longer than asked shows a service that does not page.
 */
function mayGoOn({ rows, limit }: LogPage, before: readonly LogPage[]): boolean {
  if (rows.length > limit) return false;
  const most = Math.max(2, ...before.map((page) => page.rows.length));
  return rows.length === limit || rows.length >= most || hadMore(before);
}

/** The newest page that one instant fills and that no warning was given of yet. */
function filledPage(pages: readonly LogPage[], hasNews: boolean): LogPage | undefined {
  const cut = pageSize(pages);
  if (cut === undefined) return undefined;
  // That pages are cut so short may have been shown by this one alone.
  const others = pageSize(pages.slice(0, -1)) === cut ? [] : pages.slice(0, -1);
  const open = hasNews ? [...others, ...pages.slice(-1)] : others;
  return open.findLast((page) => page.rows.length >= cut && isOneInstant(page));
}

/** Told only of instants with an offset: where others lie is a guess. */
const isBeyondWindow = ({ offset, start, end }: LogPage, final: LogRow, direction: 1n | -1n): boolean => {
  const edge = direction === 1n ? end : start;
  return offset !== '' && edge !== undefined && (final.at - edge) * direction > 0n;
};

/** True when all that is new came while the log was read; of instants without an offset that is a guess. */
function isGrowth({ runStartedAt }: PageStep, { offset }: LogPage, news: readonly LogRow[]): boolean {
  const began = runStartedAt === undefined ? undefined : instantOf(runStartedAt)?.micros;
  return offset !== '' && began !== undefined && news.every(({ at }) => at > began + GROWTH_MICROS);
}

/** So many pages in a row that bring one or two readings of the log each: it logs those that the walk makes. */
const READINGS_IN_A_ROW = 3;

const bringsReadings = (pages: readonly LogPage[]): boolean =>
  pages.length > READINGS_IN_A_ROW &&
  pages.slice(-READINGS_IN_A_ROW).every((page, at) => {
    const news = unseen(page, pages.slice(0, at - READINGS_IN_A_ROW));
    return news.length <= 2 && news.every(({ isReading }) => isReading);
  });

/**
 * The first cursor onward from the one that brought this page: before the last instant, to read its ties again; at it,
 * where going back would bring the same page; past it, where it fills a page by itself. As long as all rows are of one
 * instant the direction is unknown, and both sides are tried.
 */
function nextCursor(page: LogPage, { at }: LogRow, direction: 1n | -1n | undefined): bigint | undefined {
  const { cursor: tried, offset, start, end } = page;
  // A service may keep finer instants than it writes, so what it writes as one lies within a unit from it.
  const unit = 10n ** BigInt(6 - page.digits);
  if (direction === undefined) {
    const around = [at, at - unit, at + unit];
    return around[tried === undefined ? 0 : around.indexOf(tried) + 1];
  }
  // Or it cuts the cursor to what it writes: from the new end, only a whole unit is then back far enough.
  const back = direction === 1n ? [at - 1n] : [at + unit, at + unit - 1n];
  const next = [...back, at, at + direction * unit].find((it) => tried === undefined || (it - tried) * direction > 0n);
  // Of a log that takes no heed of the window, what lies before it is passed over.
  const edge = direction === 1n ? start : end;
  if (next === undefined || edge === undefined || offset === '') return next;
  const entry = edge - direction * unit;
  return (entry - next) * direction > 0n ? entry : next;
}

/** The service's order, told from the first two rows that differ: 1 is oldest first. */
function directionOf(pages: readonly LogPage[]): 1n | -1n | undefined {
  let first: bigint | undefined;
  for (const { rows } of pages) {
    for (const { at } of rows) {
      first ??= at;
      if (at !== first) return at > first ? 1n : -1n;
    }
  }
  return undefined;
}
