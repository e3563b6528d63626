/** A request log with the oddities that the contract does not rule out, and a walk through it to its end. */
import type { RequestBody } from '../../src/service/request-body.ts';
import { instantText, microsOf } from '../../src/service/instant.ts';
import type { PageStep } from '../../src/service/paging.ts';
import { logWalk, LOOK_BACK } from '../../src/service/request-log/walk.ts';

export interface OddRow {
  readonly id: string;
  /** Microseconds since the log began. */
  readonly at: number;
  /** Microseconds from its start to its end. */
  readonly lasts?: number;
  readonly endpoint?: string;
}

/** How a log differs from the plainest one. */
export interface Oddities {
  readonly order: 'ascending' | 'descending';
  readonly edge: 'inclusive' | 'exclusive';
  /** Sorts rows by their end; the cursor is a start all the same. */
  readonly isByEnd?: boolean;
  /** The most rows of a page, whatever is requested. */
  readonly pageSize?: number;
  /** Every page is the complete log. */
  readonly isUnpaged?: boolean;
  /** Ignores `start_time` and `end_time`. */
  readonly ignoresWindow?: boolean;
  /** Ignores `cursor`. */
  readonly ignoresCursor?: boolean;
  /** Digits of a second that are written; the log itself is exact to the microsecond. */
  readonly digits?: 0 | 3 | 6;
  /** Also the cursor is cut to them. */
  readonly cutsCursor?: boolean;
  /** Digits of a second to which the cursor is cut, although rows are written with more. */
  readonly cursorDigits?: number;
  readonly offset?: string;
  /** Rows that are there after the nth reading, besides those at the beginning. */
  readonly grown?: (readings: number) => readonly OddRow[];
  /** How many rows fewer than it could the nth page has. */
  readonly shortBy?: (reading: number) => number;
  /** How many rows more than requested a page can have. */
  readonly more?: number;
  /** What the service adds to the items of a page. */
  readonly adds?: (page: readonly unknown[]) => readonly unknown[];
}

export const BEGAN = microsOf('2026-11-20T00:00:00.000000Z') ?? 0n;
export const textAt = (at: number): string => instantText(BEGAN + BigInt(at));

const cutTo = (digits: number, at: number): number => Math.floor(at / 10 ** (6 - digits)) * 10 ** (6 - digits);

function writtenAs({ digits = 6, offset = 'Z' }: Oddities, at: number): string {
  const whole = instantText(BEGAN + BigInt(at), offset);
  const fraction = whole.slice(19, 26);
  return `${whole.slice(0, 19)}${digits === 0 ? '' : fraction.slice(0, digits + 1)}${offset}`;
}

const placeOf = ({ at, lasts = 0 }: OddRow, { isByEnd }: Oddities): number => (isByEnd === true ? at + lasts : at);

/** The page that such a log returns for the nth request. */
export function oddPage(rows: readonly OddRow[], odd: Oddities, request: RequestBody, reading: number): unknown[] {
  const given = (name: string): number | undefined => {
    const text = request[name];
    return typeof text === 'string' ? Number((microsOf(text) ?? 0n) - BEGAN) : undefined;
  };
  const sign = odd.order === 'ascending' ? 1 : -1;
  const cursor = odd.ignoresCursor === true || odd.isUnpaged === true ? undefined : given('cursor');
  const cursorDigits = odd.cursorDigits ?? (odd.cutsCursor === true ? odd.digits : undefined) ?? 6;
  const from = cursor === undefined ? undefined : cutTo(cursorDigits, cursor);
  const [start, end] = odd.ignoresWindow === true ? [undefined, undefined] : [given('start_time'), given('end_time')];
  const room = Math.min(Number(request['limit']) + (odd.more ?? 0), odd.pageSize ?? Number.POSITIVE_INFINITY);
  const size = odd.isUnpaged === true ? rows.length * 2 + 10 : Math.max(1, room - (odd.shortBy?.(reading) ?? 0));
  const page = [...rows, ...(odd.grown?.(reading) ?? [])]
    .filter(
      ({ at }) => from === undefined || (odd.edge === 'inclusive' ? sign * (at - from) >= 0 : sign * (at - from) > 0),
    )
    .filter(({ at }) => (start === undefined || at >= start) && (end === undefined || at <= end))
    .toSorted((a, b) => {
      const apart = placeOf(a, odd) - placeOf(b, odd);
      return apart === 0 ? (a.id < b.id ? -1 : 1) : sign * apart;
    })
    .slice(0, size)
    .map(({ id, at, endpoint }) => ({
      id,
      started_at: writtenAs(odd, at),
      ...(endpoint !== undefined && { endpoint }),
    }));
  return odd.adds === undefined ? page : [...odd.adds(page)];
}

export interface Walked {
  readonly ids: ReadonlySet<string>;
  readonly requests: readonly RequestBody[];
  readonly warnings: readonly string[];
}

/** Walks to the end, handing on only the steps that a walk looks back at; throws when there is none after so many pages. */
export function walkThrough(
  rows: readonly OddRow[],
  odd: Oddities,
  request: RequestBody,
  mostPages: number,
  runStartedAt?: string,
): Walked {
  const requests: RequestBody[] = [];
  const warnings: string[] = [];
  const ids = new Set<string>();
  const open: { readonly asked: RequestBody; readonly before: readonly PageStep[] }[] = [
    { asked: request, before: [] },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    if (requests.length >= mostPages) throw new Error(`no end after ${mostPages} pages`);
    const { asked, before } = next;
    const items = oddPage(rows, odd, asked, requests.length);
    for (const item of items) if (item !== null) ids.add((item as OddRow).id);
    requests.push(asked);
    const step = { request: asked, items, ...(runStartedAt !== undefined && { runStartedAt }) };
    const steps = [...before, step].slice(-LOOK_BACK);
    const follow = logWalk.follow(steps, {});
    if (follow.lowerBound !== undefined) warnings.push(follow.lowerBound);
    for (const it of follow.requests) open.push({ asked: it, before: steps });
  }
  return { ids, requests, warnings };
}
