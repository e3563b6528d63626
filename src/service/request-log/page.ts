/** A page of the request log as the walk reads it: its rows in their order, and how it writes instants. */
import { memoizeByObject } from '../../async/memoize.ts';
import { instantOf } from '../instant.ts';
import type { PageStep } from '../paging.ts';

export interface LogRow {
  readonly id: string;
  /** Microseconds since 1970. */
  readonly at: bigint;
  /** The row logs a request for the log itself. */
  readonly isReading: boolean;
}

export interface LogPage {
  readonly rows: readonly LogRow[];
  /**
   * The number of items, also of those without an id or an instant. It is above `limit` only if there are more rows than
   * requested: a row that the page repeats, or an item that is no row, does not show that the service ignores the limit.
   */
  readonly length: number;
  /** The requested number of rows. */
  readonly limit: number;
  /** The requested start of the page; undefined for the first page. */
  readonly cursor: bigint | undefined;
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
  /** Digits of a second's fraction in its instants. */
  readonly digits: number;
  /** The offset of its last instant; empty if it has none. */
  readonly offset: string;
}

/** The contract's default. */
const USUAL_LIMIT = 10;

/**
 * The page of a step. Rows without an id or an instant are omitted. Each step of a walk reads the last pages again, so a
 * parsed page is cached.
 */
export const logPage = memoizeByObject(({ request, items }: PageStep): LogPage => {
  const rows: LogRow[] = [];
  let [digits, offset] = [0, ''];
  for (const item of items) {
    if (item === null || typeof item !== 'object') continue;
    const { id, started_at: startedAt, endpoint } = item as Readonly<Record<string, unknown>>;
    const written = typeof startedAt === 'string' ? instantOf(startedAt) : undefined;
    if (typeof id !== 'string' || !written) continue;
    rows.push({ id, at: written.micros, isReading: typeof endpoint === 'string' && READING.test(endpoint) });
    digits = Math.max(digits, written.digits);
    offset = written.offset;
  }
  const { limit: requested, cursor, start_time: start, end_time: end } = request;
  const limit = typeof requested === 'number' ? requested : USUAL_LIMIT;
  const ids = new Set(rows.map(({ id }) => id));
  return {
    rows,
    length: ids.size > limit ? items.length : Math.min(items.length, limit),
    limit,
    cursor: micros(cursor),
    start: micros(start),
    end: micros(end),
    digits,
    offset,
  };
});

/** Assumed: the log writes an endpoint as its path or with dots. */
const READING = /(?:^|[\s./])token[./]requests[./]?(?:\?.*)?$/i;

const micros = (value: unknown): bigint | undefined =>
  typeof value === 'string' ? instantOf(value)?.micros : undefined;
