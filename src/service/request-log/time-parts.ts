/**
 * Reads a log whose pages are not in the order of their rows' starts, such as one in the order in which requests ended. A
 * cursor is a start, so it would leave out rows. Instead, the times are split until each part fits a page.
 */
import { instantText } from '../instant.ts';
import type { Follow, PageStep } from '../paging.ts';
import { NO_FOLLOW_UP } from '../paging.ts';
import type { RequestBody } from '../request-body.ts';
import type { LogPage } from './page.ts';
import { mayBeUnpaged, pageSize } from './page-size.ts';

/**
 * What follows a page of such a log: the two parts of its times, nothing, or a gap. Undefined if the order shows nothing
 * against a cursor.
 */
export function followOutOfOrder({ request }: PageStep, pages: readonly LogPage[]): Follow | undefined {
  const last = pages.at(-1);
  if (!last || mayBeUnpaged(last, pages.slice(0, -1))) return undefined;
  const isPart = !pages.every((page) => hasTimesOf(page, last));
  if (!isPart && !pages.some(isOutOfOrder)) return undefined;
  // The service has shown that its pages can be longer.
  if (isPart && pages.some(({ length }) => length > last.length)) return NO_FOLLOW_UP;
  // A page that was longer than requested is split once the next page shows that the service pages.
  const mixed = isPart ? undefined : pages.findLast(isOutOfOrder);
  const requests = [last, ...(mixed ? [mixed] : [])].map((page) => partsOf(request, page)).find((it) => it.length > 0);
  if (requests) return { requests };
  return last.length >= (pageSize(pages) ?? Number.POSITIVE_INFINITY)
    ? { requests: [], lowerBound: OUT_OF_ORDER }
    : undefined;
}

const OUT_OF_ORDER =
  'the rows of a page are not in the order of their start, and the times of the page cannot be split; further rows are out of reach';

const hasTimesOf = (a: LogPage, b: LogPage): boolean => a.start === b.start && a.end === b.end;

/** True if starts both rise and fall within the page. */
function isOutOfOrder({ rows }: LogPage): boolean {
  const steps = rows.slice(1).map(({ at }, index) => at - (rows[index]?.at ?? at));
  return steps.some((it) => it > 0n) && steps.some((it) => it < 0n);
}

/** The parts overlap by this much, like the days of a log: a service may leave out rows at both ends, or cut times. */
const OVERLAP_MICROS = 1_000_000n;

/** The times of a page in two parts, each without a row of the page; none if there is no such split. */
function partsOf(request: RequestBody, { rows, start, end, offset }: LogPage): readonly RequestBody[] {
  const isOutside = ({ at }: LogPage['rows'][number]): boolean =>
    (start !== undefined && at < start - OVERLAP_MICROS) || (end !== undefined && at > end + OVERLAP_MICROS);
  // The service ignores the times, or they cannot be compared.
  if (offset === '' || rows.some(isOutside)) return [];
  const splits = rows.map(({ at }) => {
    const [from, to] = [at + 1n, at + 1n + OVERLAP_MICROS];
    const fewest = Math.min(rows.filter((it) => it.at < from).length, rows.filter((it) => it.at > to).length);
    return { from, to, fewest: start !== undefined && from <= start ? 0 : fewest };
  });
  const best = splits.reduce((a, b) => (b.fewest > a.fewest ? b : a), { from: 0n, to: 0n, fewest: 0 });
  if (best.fewest === 0) return [];
  const times = { ...request, ...(request['cursor'] != null && { cursor: null }) };
  return [
    { ...times, end_time: instantText(best.to) },
    { ...times, start_time: instantText(best.from) },
  ];
}
