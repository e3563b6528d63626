/** The service's request log: a row for each request with the token, written at its start and completed at its end. */
import type { Wire } from './wire.ts';
import { instantMicros, instantText } from './instant.ts';

/** The values that the end of a request adds to its row. */
export interface Ending {
  readonly cost: number;
  readonly pointsLeft: number | null;
  readonly status: number;
  readonly count: number | null;
  readonly errorText: string | null;
  readonly executionSeconds: number;
  readonly tokenExpired: boolean;
  readonly pointsRunOut: boolean;
}

export interface Start {
  readonly id: string;
  readonly path: string;
  readonly xRequestId: string;
  readonly timeout: number | null;
  readonly startedAt: Date;
}

export interface LogQuery {
  readonly start_time?: string | null | undefined;
  readonly end_time?: string | null | undefined;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
}

export interface RequestLog {
  /** Writes the row of a started request and returns a function that completes it. */
  readonly begin: (start: Start) => (ending: Ending, endedAt: Date) => void;
  /** One page of rows. */
  readonly list: (query: LogQuery) => Wire[];
}

interface Row {
  readonly micros: number;
  readonly start: Start;
  ending?: Ending & { readonly durationSeconds: number };
}

export function requestLog(
  tokenId: string,
  order: 'descending' | 'ascending',
  cursor: 'inclusive' | 'exclusive',
): RequestLog {
  // Oldest first. Each row starts after the previous one, so the order is strict.
  const rows: Row[] = [];

  /** The number of rows that started before an instant. */
  const before = (micros: number): number => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((rows[middle] as Row).micros < micros) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    begin: (start) => {
      // The clock has milliseconds; the added microseconds distinguish requests of one millisecond.
      const previous = rows.at(-1)?.micros ?? 0;
      const row: Row = {
        micros: Math.max(start.startedAt.getTime() * 1000 + ((rows.length * 37) % 500), previous + 1),
        start,
      };
      rows.push(row);
      return (ending, endedAt) => {
        row.ending = { ...ending, durationSeconds: (endedAt.getTime() - start.startedAt.getTime()) / 1000 };
      };
    },
    list: (query) => {
      let from = query.start_time == null ? 0 : before(instantMicros(query.start_time));
      let to = query.end_time == null ? rows.length : before(instantMicros(query.end_time) + 1);
      if (query.cursor != null) {
        const cursorMicros = instantMicros(query.cursor);
        const edge = cursor === 'inclusive' ? 0 : 1;
        if (order === 'descending') to = Math.min(to, before(cursorMicros + 1 - edge));
        else from = Math.max(from, before(cursorMicros + edge));
      }
      const window = rows.slice(
        order === 'descending' ? Math.max(from, to - query.limit) : from,
        order === 'descending' ? to : Math.min(to, from + query.limit),
      );
      return (order === 'descending' ? window.toReversed() : window).map((row) => item(row, tokenId));
    },
  };
}

/** The values of a row whose request has not ended. */
const RUNNING = {
  cost: 0,
  pointsLeft: null,
  status: null,
  count: null,
  errorText: null,
  executionSeconds: null,
  tokenExpired: null,
  pointsRunOut: null,
  durationSeconds: null,
};

function item({ micros, start, ending }: Row, tokenId: string): Wire {
  const result = ending ?? RUNNING;
  return {
    '@type': '@token_request',
    id: start.id,
    cost: result.cost,
    is_paid: result.cost > 0,
    endpoint: start.path,
    plan: 'sandbox',
    started_at: instantText(micros),
    points_left: result.pointsLeft,
    token_id: tokenId,
    duration: result.durationSeconds,
    response_status_code: result.status,
    response_error_text: result.errorText,
    response_count: result.count,
    response_execution_time: result.executionSeconds,
    response_request_id: ending ? start.xRequestId : null,
    timeout: start.timeout,
    is_token_expired: result.tokenExpired,
    is_points_run_out: result.pointsRunOut,
  };
}
