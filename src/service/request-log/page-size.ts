/** How many rows the pages of a walk can have, as far as the pages themselves show it. */
import type { LogPage, LogRow } from './page.ts';

/** The rows of a page that no earlier page has. */
export function unseen(page: LogPage, before: readonly LogPage[]): readonly LogRow[] {
  const seen = new Set(before.flatMap(({ rows }) => rows.map(({ id }) => id)));
  return page.rows.filter(({ id }) => !seen.has(id));
}

/** True if a page was short although more rows followed: the service returns fewer rows than requested. */
const hadMore = (pages: readonly LogPage[]): boolean =>
  pages.some(
    ({ length, limit }, index) =>
      length < limit &&
      index < pages.length - 1 &&
      unseen(pages[index + 1] as LogPage, pages.slice(0, index + 1)).length > 0,
  );

/** The number of rows at which the service ends a page; undefined if no page is known to be full. */
export function pageSize(pages: readonly LogPage[]): number | undefined {
  const most = Math.max(0, ...pages.map(({ length }) => length));
  const limit = pages.at(-1)?.limit ?? 0;
  return most >= limit ? limit : hadMore(pages) ? most : undefined;
}

/**
 * True if the service may not page: a page is longer than requested, and has all rows of the pages before it. Without the
 * latter, the service pages, and its pages are longer than requested.
 */
export function mayBeUnpaged({ rows, length, limit }: LogPage, before: readonly LogPage[]): boolean {
  const ids = new Set(rows.map(({ id }) => id));
  return length > limit && before.every((page) => page.rows.every(({ id }) => ids.has(id)));
}

/**
 * True if a page without unseen rows may still hide some: it is as long as a page can be, or pages are known to end
 * early.
 */
export function mayContinue(page: LogPage, before: readonly LogPage[]): boolean {
  const { length, limit } = page;
  if (mayBeUnpaged(page, before)) return false;
  const most = Math.max(2, ...before.map((page) => page.length));
  return length >= limit || length >= most || hadMore(before);
}
