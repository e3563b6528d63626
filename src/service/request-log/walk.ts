/**
 * The walk through the request log. The log's order, cursor edge, ties and page size are not documented, so the walk is
 * correct for each possibility. Rows that tie across a page edge are read again and never lost.
 */
import { instantOf, instantText } from '../instant.ts';
import { type LogPage, logPage, type LogRow } from './page.ts';
import { mayContinue, pageSize, unseen } from './page-size.ts';
import { followOutOfOrder } from './time-parts.ts';
import { type Follow, NO_FOLLOW_UP, type Paging, type PageStep } from '../paging.ts';

/**
 * Pages that the walk compares with. A row can repeat only near the cursor, and an instant that fills pages is skipped
 * after its fourth page. Six pages therefore hold all possible repetitions, and two instants to show the direction.
 */
export const LOOK_BACK = 6;

/**
 * The next run reads rows that started this long after the run began. Otherwise a walk that starts at the old end would
 * never finish if the log grows as fast as the walk reads. The comparison uses our clock; if the service's clock is
 * behind, the walk is longer.
 */
const GROWTH_MICROS = 60_000_000n;

/**
 * Paging by `cursor`, a `started_at`. The next cursor is the last row's instant, moved back by the digits that the log
 * may omit. The walk ends at an empty page, or at a page that has room left and no unseen row. A short page alone does
 * not end it.
 */
export const logWalk: Paging = {
  by: 'cursor',
  ownFields: {
    cursor:
      'each page decides the next one, and the order of the log is not documented; remove it, and set start_time or end_time',
  },
  times: { from: 'start_time', to: 'end_time' },
  itemFields: ['id', 'started_at', 'endpoint'],
  follow: (steps) => {
    const pages = steps.slice(-LOOK_BACK).map(logPage);
    const step = steps.at(-1);
    const outOfOrder = step && followOutOfOrder(step, pages);
    if (outOfOrder) return isNewOnly(step, pages.at(-1)) ? NO_FOLLOW_UP : outOfOrder;
    const skipped = skippedRow(pages);
    return skipped ? pagesBefore(skipped, steps, pages) : nextPages(steps);
  },
};

/** True if the next run reads all rows of the page. */
const isNewOnly = (step: PageStep, page: LogPage | undefined): boolean =>
  page !== undefined && beganBefore(step, page, page.rows, GROWTH_MICROS);

/** Asks again from further back for the rows that a cut cursor skipped. */
function pagesBefore(skipped: Origin, steps: readonly PageStep[], pages: readonly LogPage[]): Follow {
  const cursor = coarserCursor(skipped, pages);
  return cursor === undefined
    ? { requests: [], lowerBound: SKIPPED }
    : { requests: [{ ...steps.at(-1)?.request, cursor }] };
}

function nextPages(steps: readonly PageStep[]): Follow {
  const position = positionOf(steps.slice(-LOOK_BACK));
  if (!position) return (steps.at(-1)?.items.length ?? 0) > 0 ? { requests: [], lowerBound: NO_CURSOR } : NO_FOLLOW_UP;
  if (isAtEnd(position)) return NO_FOLLOW_UP;
  const { step, pages, last, unseenRows } = position;
  const cursor = nextCursor(position);
  if (cursor === undefined ? last.length === last.limit : passesCutRows(position, cursor))
    return { requests: [], lowerBound: NO_PROGRESS };
  if (cursor === undefined) return NO_FOLLOW_UP;
  const requests = [{ ...step.request, cursor: instantText(cursor, last.offset) }];
  const filled = filledPage(pages, unseenRows.length > 0);
  return filled ? { requests, lowerBound: lowerBoundOf(filled) } : { requests };
}

/** The last page of a walk, compared with the pages before it. */
interface Position {
  readonly step: PageStep;
  readonly pages: readonly LogPage[];
  readonly last: LogPage;
  /** The last row of the last page. */
  readonly final: LogRow;
  /** The rows of the last page that no earlier page has. */
  readonly unseenRows: readonly LogRow[];
  readonly direction: 1n | -1n | undefined;
}

/** The position after these steps; undefined if the last page has no rows. */
function positionOf(steps: readonly PageStep[]): Position | undefined {
  const step = steps.at(-1);
  const pages = steps.map(logPage);
  const last = pages.at(-1);
  const final = last?.rows.at(-1);
  if (!step || !last || !final) return undefined;
  return { step, pages, last, final, unseenRows: unseen(last, pages.slice(0, -1)), direction: directionOf(pages) };
}

/** True if no unseen rows follow, or only rows that are outside of the window or that the next run reads. */
function isAtEnd({ step, pages, last, final, unseenRows, direction }: Position): boolean {
  const hasNews = unseenRows.length > 0;
  if (!hasNews && !mayContinue(last, pages.slice(0, -1))) return true;
  if (direction !== undefined && isBeyondWindow(last, final, direction)) return true;
  if (direction !== 1n || !hasNews) return false;
  const isNew = beganBefore(step, last, unseenRows, GROWTH_MICROS);
  // Rows about the log fill small pages also in the past.
  const mayBeOwn = last.length < last.limit || beganBefore(step, last, unseenRows, 0n);
  return isNew || (mayBeOwn && bringsReadings(pages));
}

const NO_CURSOR = 'no row of a page has a readable id and start, so the next page is out of reach';

const SKIPPED = 'the log returns no row near the cursor, so rows after the page before it are out of reach';

const NO_PROGRESS =
  'the log returned the same full page for every cursor near its end; rows beyond it are out of reach';

const lowerBoundOf = ({ rows }: LogPage): string =>
  `${rows.length} rows of one instant (${instantText(rows[0]?.at ?? 0n)}) fill a page; further rows of that instant are out of reach`;

const isOneInstant = ({ rows }: LogPage): boolean => rows.every(({ at }) => at === rows[0]?.at);

/** The newest page that consists of one instant and was not reported yet. */
function filledPage(pages: readonly LogPage[], hasNews: boolean): LogPage | undefined {
  const size = pageSize(pages);
  if (size === undefined) return undefined;
  // This page alone may have revealed the page size. Then earlier pages were not reported yet.
  const earlier = pageSize(pages.slice(0, -1)) === size ? [] : pages.slice(0, -1);
  const open = hasNews ? [...earlier, ...pages.slice(-1)] : earlier;
  return open.findLast((page) => page.length >= size && isOneInstant(page));
}

/** Decided only for instants with an offset, since the position of others is a guess. */
const isBeyondWindow = ({ offset, start, end }: LogPage, final: LogRow, direction: 1n | -1n): boolean => {
  const edge = direction === 1n ? end : start;
  return offset !== '' && edge !== undefined && (final.at - edge) * direction > 0n;
};

/**
 * True if the run had begun so many microseconds before all these rows, which appeared while the walk read the log. Not
 * decided for instants without an offset.
 */
function beganBefore(
  { runStartedAt }: PageStep,
  { offset }: LogPage,
  rows: readonly LogRow[],
  micros: bigint,
): boolean {
  const began = runStartedAt === undefined ? undefined : instantOf(runStartedAt)?.micros;
  return offset !== '' && began !== undefined && rows.every(({ at }) => at > began + micros);
}

/**
 * If this many pages in a row bring only one or two rows about the log itself, the log records the walk's own requests.
 */
const READINGS_IN_A_ROW = 3;

const bringsReadings = (pages: readonly LogPage[]): boolean =>
  pages.length > READINGS_IN_A_ROW &&
  pages.slice(-READINGS_IN_A_ROW).every((page, index) => {
    const unseenRows = unseen(page, pages.slice(0, index - READINGS_IN_A_ROW));
    return unseenRows.length <= 2 && unseenRows.every(({ isReading }) => isReading);
  });

/**
 * The first cursor beyond the one of this page. It lies before the last instant, to read its ties again; at it, if
 * going back would return the same page; after it, if the instant fills a page. As long as all rows have one instant,
 * the direction is unknown, and both sides are tried.
 */
function nextCursor({ pages, last, final: { at }, direction }: Position): bigint | undefined {
  const { cursor: tried, offset, start, end } = last;
  // A service may store finer instants than it writes, so equal instants may differ by up to one unit. It may also read
  // cursors only to a coarser unit, which its earlier pages showed.
  const coarse = coarseUnit(pages);
  const unit = coarse ?? unitOf(last);
  if (direction === undefined) {
    return [at, at - unit, at + unit].find((it) => pages.every(({ cursor }) => cursor !== it));
  }
  // The service may also truncate the cursor to the digits it writes. In a newest-first log, only a full unit is then
  // far enough back.
  const back = direction === 1n ? [at - 1n] : coarse === undefined ? [at + unit, at + unit - 1n] : [at + unit];
  const next = [...back, at, at + direction * unit].find((it) => tried === undefined || (it - tried) * direction > 0n);
  // A log may ignore the requested window. Then the walk jumps to the window's edge.
  const edge = direction === 1n ? start : end;
  if (next === undefined || edge === undefined || offset === '') return next;
  const entry = edge - direction * unit;
  return (entry - next) * direction > 0n ? entry : next;
}

/** The microseconds of the last digit that the page writes. */
const unitOf = ({ digits }: LogPage): bigint => 10n ** BigInt(6 - digits);

/** Milliseconds and seconds: the units to which a service may cut a cursor that has microseconds. */
const COARSE_MICROS: readonly bigint[] = [1_000n, 1_000_000n];

/** The coarser unit to which the service cuts cursors, as its earlier pages showed. */
function coarseUnit(pages: readonly LogPage[]): bigint | undefined {
  const origin = originOf(pages);
  return COARSE_MICROS.find((it) => origin && it > unitOf(origin.page) && isOneUnit(origin.distance, it));
}

/** True if the next cursor passes rows that fill a page, because the service cuts cursors back to the page's start or beyond its end. */
function passesCutRows({ pages, last, final, direction }: Position, next: bigint): boolean {
  if (direction === undefined || (next - final.at) * direction < 0n) return false;
  const [first = final] = last.rows;
  const { cursor = first.at } = last;
  const early = (cursor - first.at) * direction;
  const isCut = coarseUnit(pages) !== undefined || COARSE_MICROS.some((it) => early >= unitOf(last) && early < it);
  return isCut && last.length >= (pageSize(pages) ?? Number.POSITIVE_INFINITY);
}

/** `nextCursor` goes back by a unit, or by a microsecond less. */
const isOneUnit = (distance: bigint, unit: bigint): boolean => distance === unit || distance === unit - 1n;

/** The row from which the cursor of the last page was derived. */
interface Origin {
  readonly row: LogRow;
  /** The first page whose last row it is. */
  readonly page: LogPage;
  /** How far the cursor lies before the row, in microseconds. */
  readonly distance: bigint;
  readonly direction: 1n | -1n;
}

/** Undefined if the cursor does not lie shortly before the last row of an earlier page. */
function originOf(pages: readonly LogPage[]): Origin | undefined {
  const cursor = pages.at(-1)?.cursor;
  const direction = directionOf(pages);
  if (cursor === undefined || direction === undefined) return undefined;
  for (const page of pages.slice(0, -1)) {
    const row = page.rows.at(-1);
    const distance = row && (row.at - cursor) * direction;
    const units = [1n, unitOf(page), ...COARSE_MICROS];
    if (row && distance !== undefined && distance > 0n && units.some((it) => isOneUnit(distance, it)))
      return { row, page, distance, direction };
  }
  return undefined;
}

/**
 * The row before which the last page should begin, if neither it nor a page since has the row or anything before it. Then the
 * service cut the cursor, and rows between two pages may be missing.
 */
function skippedRow(pages: readonly LogPage[]): Origin | undefined {
  const origin = originOf(pages);
  if (!origin) return undefined;
  const { row, page, direction } = origin;
  const reread = pages.slice(pages.indexOf(page) + 1).flatMap(({ rows }) => rows);
  return reread.every(({ at }) => (at - row.at) * direction > 0n) ? origin : undefined;
}

/** A cursor further before the row; undefined if all were tried. */
function coarserCursor({ row, page, distance, direction }: Origin, pages: readonly LogPage[]): string | undefined {
  const tried = new Set(pages.map(({ cursor }) => cursor));
  const further = COARSE_MICROS.filter((unit) => unit > distance).map((unit) => row.at - direction * unit);
  const cursor = further.find((it) => !tried.has(it));
  return cursor === undefined ? undefined : instantText(cursor, page.offset);
}

/** The log's order, from the first two rows that differ: 1 if the oldest row comes first. */
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
