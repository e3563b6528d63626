/** The request log of the service: a row for each request, newest first, as the contract describes it. */

export interface RequestLog {
  readonly add: (path: string, requestId: string | undefined) => void;
  /** The rows that the address of a request for the log selects. */
  readonly rows: (url: URL) => readonly object[];
}

interface Row {
  readonly id: string;
  readonly startedAt: string;
  readonly path: string;
  readonly requestId: string | undefined;
}

export function openRequestLog(): RequestLog {
  const rows: Row[] = [];
  let lastMicroseconds = 0;
  return {
    add: (path, requestId) => {
      // Cursors are times, so no two rows have the same.
      lastMicroseconds = Math.max(lastMicroseconds + 1, Date.now() * 1000);
      const [seconds, micros] = [Math.floor(lastMicroseconds / 1e6), lastMicroseconds % 1e6];
      const startedAt = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`;
      const id = `00000000-0000-4000-8000-${String(rows.length).padStart(12, '0')}`;
      rows.push({ id, startedAt, path, requestId });
    },
    rows: ({ searchParams }) => {
      const before = searchParams.get('cursor') ?? searchParams.get('end_time');
      const from = searchParams.get('start_time');
      const first = from === null ? 0 : firstAt(rows, from);
      const end = before === null ? rows.length : firstAt(rows, before);
      const limit = Number(searchParams.get('limit') ?? 10);
      return rows
        .slice(Math.max(first, end - limit), end)
        .toReversed()
        .map(shown);
    },
  };
}

/** The position of the first row that does not start before a time. Times of other precision sort alike as texts. */
function firstAt(rows: readonly Row[], time: string): number {
  const key = time.replace(/Z$/, '');
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.startedAt ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const shown = ({ id, startedAt, path, requestId }: Row): object => ({
  id,
  cost: 1,
  is_paid: true,
  endpoint: path,
  plan: 'bench',
  started_at: startedAt,
  points_left: null,
  token_id: null,
  duration: 0.001,
  response_status_code: 200,
  response_error_text: null,
  response_count: 1,
  response_execution_time: 0.001,
  response_request_id: requestId,
  timeout: 300,
  is_token_expired: false,
  is_points_run_out: false,
});
