/**
 * Decides which log rows may belong to which requests, from events in time order. Memory does not grow with the ledger:
 * a request is kept until its last span ends, with at most as many rows as it has attempts.
 */

/** A kind of match by endpoint, time and count. */
export type CandidateKind = 'only_candidate' | 'ambiguous';

/** The start of a span: a time in which a request may be logged. */
export interface SpanStart {
  readonly event: 'start';
  readonly requestId: string;
  readonly endpoint: string;
  /** The most items that an answer can have; null without a limit. */
  readonly count: number | null;
  /** Number of attempts whose rows are not known. */
  readonly attempts: number;
  /** Number of spans of the request, which may overlap. */
  readonly spans: number;
  /** The statuses of attempts that were answered with an error; null without any. */
  readonly failedStatuses: readonly number[] | null;
}

export interface SpanEnd {
  readonly event: 'end';
  readonly requestId: string;
}

/** A log row whose request is not known. */
export interface UnmatchedRow {
  readonly event: 'row';
  readonly logId: string;
  /** The endpoints that the row may be of; null if there are none, then the row has no candidate. */
  readonly endpoints: readonly string[] | null;
  readonly count: number | null;
  /** True if the matches of the row may change; otherwise it only counts among the rows of a request. */
  readonly mayChange: boolean;
  /** The HTTP status that the log shows; null if it shows none. */
  readonly status: number | null;
  /** True if other programs may have caused the row, so that it is surely of no request without a failed attempt of its status. */
  readonly mayBeOthers: boolean;
  /** The stored matches of the row, by request. */
  readonly matches: Readonly<Record<string, CandidateKind>> | null;
}

/** Events come in time order. At the same time, starts come first and ends last. */
export type CandidateEvent = SpanStart | UnmatchedRow | SpanEnd;

/** A difference between the stored matches and the decision. */
export interface MatchChange {
  readonly requestId: string;
  readonly logId: string;
  /** Null if there was no match. */
  readonly before: CandidateKind | null;
  /** Null if the match does not hold. */
  readonly after: CandidateKind | null;
}

/** A row with more candidates is listed with only one of them, since all pairs would be too many. */
const MOST_LISTED = 10;

interface Endpoint {
  /** Number of rows so far. */
  rows: number;
  readonly open: Set<Candidate>;
  /** The last request that was opened. */
  latest?: Candidate;
}

/** A request whose spans are not all over. */
interface Candidate {
  readonly start: SpanStart;
  readonly endpoint: Endpoint;
  openSpans: number;
  endedSpans: number;
  /** Number of rows in earlier spans; while a span is open, minus the rows of the endpoint before it. */
  rows: number;
  /** Rows without another candidate, until it is known whether there are too many. */
  undecided: Pick<MatchChange, 'logId' | 'before'>[];
}

export class CandidateSweep {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #requests = new Map<string, Candidate>();
  #changes: MatchChange[] = [];

  /** Processes the next events; returns the changes that they decide. */
  process(events: Iterable<CandidateEvent>): MatchChange[] {
    this.#changes = [];
    for (const event of events) {
      if (event.event === 'start') this.#start(event);
      else if (event.event === 'row') this.#row(event);
      else this.#end(event);
    }
    return this.#changes;
  }

  #start(start: SpanStart): void {
    const endpoint = this.#endpoints.get(start.endpoint) ?? { rows: 0, open: new Set() };
    this.#endpoints.set(start.endpoint, endpoint);
    const known = this.#requests.get(start.requestId);
    const request = known ?? { start, endpoint, openSpans: 0, endedSpans: 0, rows: 0, undecided: [] };
    this.#requests.set(start.requestId, request);
    request.openSpans += 1;
    if (request.openSpans > 1) return;
    request.rows -= endpoint.rows;
    endpoint.open.add(request);
    endpoint.latest = request;
  }

  #row(row: UnmatchedRow): void {
    const { logId, matches } = row;
    const listed: string[] = [];
    for (const name of row.endpoints ?? []) {
      const endpoint = this.#endpoints.get(name);
      if (!endpoint) continue;
      endpoint.rows += 1;
      if (!row.mayChange) continue;
      for (const request of candidatesFor(row, endpoint)) {
        const { requestId } = request.start;
        listed.push(requestId);
        const before = matches?.[requestId] ?? null;
        if (mayBeOthers(row, request.start) || endpoint.open.size > 1)
          this.#change({ requestId, logId, before, after: 'ambiguous' });
        else request.undecided.push({ logId, before });
        // More rows than attempts are ambiguous, however many follow.
        if (request.rows + endpoint.rows > request.start.attempts) this.#decide(request, 'ambiguous');
      }
    }
    if (!matches || !row.mayChange) return;
    for (const [requestId, before] of Object.entries(matches))
      if (!listed.includes(requestId)) this.#change({ requestId, logId, before, after: null });
  }

  #end({ requestId }: SpanEnd): void {
    const request = this.#requests.get(requestId);
    if (!request) return;
    const { start, endpoint } = request;
    request.openSpans -= 1;
    request.endedSpans += 1;
    if (request.openSpans > 0) return;
    request.rows += endpoint.rows;
    endpoint.open.delete(request);
    if (request.endedSpans < start.spans) return;
    this.#decide(request, request.rows > start.attempts ? 'ambiguous' : 'only_candidate');
    this.#requests.delete(requestId);
  }

  #decide(request: Candidate, after: CandidateKind): void {
    const { requestId } = request.start;
    for (const row of request.undecided) this.#change({ requestId, ...row, after });
    request.undecided = [];
  }

  #change(change: MatchChange): void {
    if (change.before !== change.after) this.#changes.push(change);
  }
}

const mayBeOthers = (row: UnmatchedRow, { failedStatuses }: SpanStart): boolean =>
  row.mayBeOthers && !failedStatuses?.includes(row.status ?? 0);

/** The requests that a row is listed with. */
function candidatesFor({ count }: UnmatchedRow, { open, latest }: Endpoint): Candidate[] {
  if (latest && open.size > MOST_LISTED) return [latest];
  return [...open].filter(({ start }) => count === null || start.count === null || count <= start.count);
}
