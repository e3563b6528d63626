/** What the sweep must decide, by comparing every row with every request. */
import type { CandidateKind } from '../../src/recovery/reconcile/candidate-sweep.ts';

/** A time range, with both ends. */
export type Span = readonly [from: number, to: number];

export interface SentRequest {
  readonly id: string;
  readonly endpoint: string;
  readonly count: number | null;
  /** Attempts without a row by identifier. */
  readonly attempts: number;
  /** The times in which they may be logged. */
  readonly spans: readonly Span[];
  /** The statuses of attempts that were answered with an error. */
  readonly failedStatuses?: readonly number[] | null;
}

export interface LoggedRow {
  readonly id: string;
  readonly at: number;
  readonly endpoints: readonly string[];
  readonly mayBeOthers?: boolean;
  readonly count: number | null;
  readonly status?: number | null;
}

/** Returns the kinds of match by request and row, as `request row`. */
export function expectedMatches(
  requests: readonly SentRequest[],
  rows: readonly LoggedRow[],
): ReadonlyMap<string, CandidateKind> {
  const found = new Map<string, CandidateKind>();
  for (const row of rows)
    for (const endpoint of row.endpoints) {
      const ofEndpoint = requests.filter((it) => it.endpoint === endpoint);
      const open = ofEndpoint.filter((it) => contains(it, row.at));
      const listed =
        open.length > 10
          ? [latestStarted(ofEndpoint, row.at)]
          : open.filter(({ count }) => count === null || row.count === null || row.count <= count);
      for (const request of listed) {
        const all = rows.filter((it) => it.endpoints.includes(endpoint) && contains(request, it.at));
        const isOurs = !row.mayBeOthers || (request.failedStatuses ?? []).some((status) => status === row.status);
        const isOnly = isOurs && open.length === 1 && all.length <= request.attempts;
        found.set(`${request.id} ${row.id}`, isOnly ? 'only_candidate' : 'ambiguous');
      }
    }
  return found;
}

const contains = ({ spans }: SentRequest, at: number): boolean => spans.some(([from, to]) => from <= at && at <= to);

/** The request whose time, without gaps, began last before the row; among equals, the last one. */
function latestStarted(requests: readonly SentRequest[], at: number): SentRequest {
  const starts = requests.flatMap((request) =>
    request.spans
      .filter(([from]) => from <= at && !request.spans.some(([other, to]) => other < from && from <= to))
      .map(([from]) => ({ request, from })),
  );
  return starts.toSorted((a, b) => a.from - b.from).at(-1)!.request;
}
