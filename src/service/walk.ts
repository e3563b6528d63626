/**
 * The walk through the request log, whose order, cursor edge and ties are documented nowhere: right for every answer
 * they could have. Rows that tie across a page edge are read again rather than lost.
 */
import type { RequestBody } from './asked.ts';
import type { Follow, Paging, Step } from './paging.ts';
import { onCalendar } from './request.ts';

const DONE: Follow = { requests: [] };

interface Row {
  readonly id: string;
  readonly at: bigint;
}

/**
 * Pages by `cursor`, a `started_at`. The next cursor is the last row's instant, moved back one microsecond against the
 * direction; the walk ends on an empty page, or on one with room left and no unseen row. A short page alone proves
 * nothing.
 */
export const logWalk: Paging = {
  by: 'cursor',
  owns: ['cursor'],
  follow: (steps) => {
    const last = steps.at(-1);
    const rows = last ? rowsOf(last) : [];
    const final = rows.at(-1);
    if (!last || !final) return DONE;
    const seen = new Set(steps.slice(0, -1).flatMap((step) => rowsOf(step).map(({ id }) => id)));
    const limit = Number(last.request['limit'] ?? 10);
    const full = rows.length >= limit;
    if (!full && rows.every(({ id }) => seen.has(id))) return DONE;
    const stuck = full && rows.every(({ at }) => at === final.at);
    const cursor = nextCursor(steps, final.at, cursorOf(last));
    if (cursor === undefined) return DONE;
    const requests: RequestBody[] = [{ ...last.request, cursor: instantText(cursor) }];
    return stuck
      ? { requests, lowerBound: `${limit} rows of one instant (${instantText(final.at)}): more of them can't be seen` }
      : { requests };
  },
};

const cursorOf = ({ request: { cursor } }: Step): bigint | undefined =>
  typeof cursor === 'string' ? microsOf(cursor) : undefined;

/**
 * The first cursor onward from the one that brought this page: before the last instant, to read its ties again; at it,
 * where going back would bring the same page; past it, where it fills a page by itself. As long as all rows are of one
 * instant the direction is unknown, and both sides are tried.
 */
function nextCursor(steps: readonly Step[], at: bigint, tried: bigint | undefined): bigint | undefined {
  const direction = directionOf(steps);
  if (direction !== undefined)
    return [at - direction, at, at + direction].find((it) => tried === undefined || (it - tried) * direction > 0n);
  const around = [at, at - 1n, at + 1n];
  return around[tried === undefined ? 0 : around.indexOf(tried) + 1];
}

/** The service's order, told from the first two rows that differ: 1 is oldest first. */
function directionOf(steps: readonly Step[]): 1n | -1n | undefined {
  const instants = steps.flatMap(rowsOf).map(({ at }) => at);
  const first = instants[0];
  const other = instants.find((at) => at !== first);
  if (first === undefined || other === undefined) return undefined;
  return other > first ? 1n : -1n;
}

/** A walk looks at all its pages again with each that follows, so a page is read once. */
const read = new WeakMap<Step, readonly Row[]>();

function rowsOf(step: Step): readonly Row[] {
  const rows = read.get(step) ?? step.items.flatMap(rowOf);
  read.set(step, rows);
  return rows;
}

function rowOf(item: unknown): Row[] {
  if (item === null || typeof item !== 'object') return [];
  const { id, started_at: startedAt } = item as { id?: unknown; started_at?: unknown };
  const at = typeof startedAt === 'string' ? microsOf(startedAt) : undefined;
  return typeof id === 'string' && at !== undefined ? [{ id, at }] : [];
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(Z|z|[+-]\d{2}:?\d{2})?$/;

/** Microseconds since 1970; a Date would cut them to milliseconds. Assumed: no offset means UTC. */
export function microsOf(text: string): bigint | undefined {
  const parts = INSTANT.exec(text);
  if (!parts) return undefined;
  const [, day = '', time, fraction = '', offset = 'Z'] = parts;
  if (!onCalendar(day)) return undefined;
  const seconds = Date.parse(
    `${day}T${time}${offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase()}`,
  );
  if (Number.isNaN(seconds)) return undefined;
  return BigInt(seconds) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}

/** RFC 3339 in UTC with six digits of a second. */
export function instantText(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = (micros - fraction) / 1000n;
  return `${new Date(Number(seconds)).toISOString().slice(0, 19)}.${String(fraction).padStart(6, '0')}Z`;
}
