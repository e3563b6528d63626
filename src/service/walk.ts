/**
 * The walk through the request log, whose order, cursor edge and ties are documented nowhere: right for every answer
 * they could have. Rows that tie across a page edge are read again rather than lost.
 */
import type { RequestBody } from './asked.ts';
import type { Follow, Paging, Step } from './paging.ts';

const DONE: Follow = { requests: [] };

interface Row {
  readonly id: string;
  readonly at: bigint;
}

/**
 * Pages by `cursor`, a `started_at`. The next cursor is the last row's instant, moved back one microsecond against the
 * direction; the walk ends on an empty page or on one without an unseen row. A short page alone proves nothing.
 */
export const logWalk: Paging = {
  by: 'cursor',
  owns: ['cursor'],
  follow: (steps) => {
    const last = steps.at(-1);
    if (!last) return DONE;
    const rows = rowsOf(last);
    const final = rows.at(-1);
    if (final === undefined) return DONE;
    const seen = new Set(steps.slice(0, -1).flatMap((step) => rowsOf(step).map(({ id }) => id)));
    if (rows.every(({ id }) => seen.has(id))) return otherWay(steps, final.at);
    const descending = isDescending(steps);
    const oneInstant = rows.every(({ at }) => at === final.at);
    const limit = Number(last.request['limit'] ?? 10);
    const stuck = oneInstant && rows.length >= limit;
    const against = descending ? 1n : -1n;
    const next = instantText(stuck ? final.at - against : final.at + against);
    if (next === last.request['cursor']) return DONE;
    const request: RequestBody = { ...last.request, cursor: next };
    return stuck
      ? {
          requests: [request],
          lowerBound: `${limit} rows of one instant (${instantText(final.at)}): more of them can't be seen`,
        }
      : { requests: [request] };
  },
};

/** A first page of one instant tells no direction: when a step down brought nothing new, one step up is tried. */
function otherWay(steps: readonly Step[], at: bigint): Follow {
  const last = steps.at(-1);
  const undecided = steps.flatMap(rowsOf).every((row) => row.at === at);
  return last && undecided && last.request['cursor'] === instantText(at - 1n)
    ? { requests: [{ ...last.request, cursor: instantText(at + 1n) }] }
    : DONE;
}

/** The service's order, told from the first two rows that differ; newest first until shown otherwise. */
function isDescending(steps: readonly Step[]): boolean {
  const instants = steps.flatMap(rowsOf).map(({ at }) => at);
  const first = instants[0];
  const other = instants.find((at) => at !== first);
  return first === undefined || other === undefined || other < first;
}

function rowsOf({ items }: Step): Row[] {
  return items.flatMap((item) => {
    if (item === null || typeof item !== 'object') return [];
    const { id, started_at: startedAt } = item as { id?: unknown; started_at?: unknown };
    const at = typeof startedAt === 'string' ? microsOf(startedAt) : undefined;
    return typeof id === 'string' && at !== undefined ? [{ id, at }] : [];
  });
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(Z|z|[+-]\d{2}:?\d{2})?$/;

/** Microseconds since 1970; a Date would cut them to milliseconds. Assumed: no offset means UTC. */
export function microsOf(text: string): bigint | undefined {
  const parts = INSTANT.exec(text);
  if (!parts) return undefined;
  const [, day, time, fraction = '', offset = 'Z'] = parts;
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
