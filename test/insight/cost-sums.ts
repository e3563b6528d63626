/** What the views of costs must say of a made-up history, added up by hand. */
import { DAY_MS, type History, receivedAt, type Request, type Row } from './cost-history.ts';

/** The points that a row was charged. */
export const charged = ({ cost, isPaid }: Pick<Row, 'cost' | 'isPaid'>): number =>
  (isPaid ?? (cost ?? 0) > 0) ? (cost ?? 0) : 0;

export const dayOf = ({ at }: { readonly at: number }): string => new Date(at).toISOString().slice(0, 10);

export const planOf = ({ plan }: Row): string => plan ?? '(not reported)';
export const tokenOf = ({ token }: Row): string => token ?? '(not reported)';
export const syncOf = ({ request }: Row): string =>
  request === undefined ? '(other programs)' : request === 'several' ? '(ambiguous)' : request.sync;
export const requestOf = ({ request }: Row): Request | undefined => (typeof request === 'object' ? request : undefined);

const isFailed = ({ status }: Row): boolean => status !== null && status !== 412 && (status < 200 || status > 299);

export interface Sums {
  readonly requests: number;
  readonly points: number;
  readonly failed_requests: number;
  readonly failed_points: number;
}

/** Sums over rows by a name; those without one are left out. */
export function sumsBy(rows: readonly Row[], nameOf: (row: Row) => string | undefined): Record<string, Sums> {
  const sums: Record<string, Sums> = {};
  for (const row of rows) {
    const name = nameOf(row);
    if (name === undefined) continue;
    const it = (sums[name] ??= { requests: 0, points: 0, failed_requests: 0, failed_points: 0 });
    const points = charged(row);
    sums[name] = {
      requests: it.requests + 1,
      points: it.points + points,
      failed_requests: it.failed_requests + (isFailed(row) ? 1 : 0),
      failed_points: it.failed_points + (isFailed(row) ? points : 0),
    };
  }
  return sums;
}

/** Points of a request's rows; of one without rows, what the ledger says. */
export function requestPoints({ rows }: History, { id, points }: Request): number {
  const own = rows.filter((row) => requestOf(row)?.id === id);
  return own.length === 0 ? points : own.reduce((sum, row) => sum + charged(row), 0);
}

/** Endpoints whose answers list known people: the first answer to a request says which ones it returned. */
const LISTING = ['pronet.search.users', 'pronet.post.reposts', 'photoshare.user.posts'];

export function isNothingNew({ requests }: History, request: Request): boolean {
  const { sync, key, answer } = request;
  const isEarlier = (it: Request): boolean =>
    receivedAt(it) < receivedAt(request) || (receivedAt(it) === receivedAt(request) && it.id < request.id);
  const isFirst = !requests.some((it) => it.answer && it.sync === sync && it.key === key && isEarlier(it));
  return answer?.loaded === 0 && answer.quarantined === 0 && !(isFirst && LISTING.includes(request.endpoint));
}

/** Ids of the rows that were charged and failed, or ended while their request has fewer answers than such rows. */
export function chargedFailures({ rows }: History): string[] {
  const paid = rows.filter((row) => charged(row) > 0 && requestOf(row) !== undefined);
  const lost = Map.groupBy(paid, (row) => requestOf(row)?.id)
    .values()
    .flatMap((own) => own.toSorted((a, b) => b.at - a.at).slice(own.some((row) => requestOf(row)?.answer) ? 1 : 0))
    .filter(({ status, duration }) => status !== null || duration !== null);
  const failed = rows.filter((row) => charged(row) > 0 && isFailed(row));
  return [...new Set([...lost, ...failed].map(({ id }) => id))].toSorted();
}

export interface Saving {
  readonly saved_answers: number;
  readonly saved_points: number;
  readonly late_answers: number;
}

/** What an age of so many days would have saved a sync: each question is looked up when it was sent. */
export function savingOf(history: History, sync: string, days: number): Saving {
  const asked = history.requests.filter((it) => it.sync === sync && !it.isLookup && it.answer !== undefined);
  const bought = new Map<string, number>();
  const saved = asked.filter((it) => {
    const last = bought.get(it.key);
    if (last !== undefined && it.at <= last + days * DAY_MS) return true;
    bought.set(it.key, receivedAt(it));
    return false;
  });
  return {
    saved_answers: saved.length,
    saved_points: saved.reduce((sum, it) => sum + requestPoints(history, it), 0),
    late_answers: saved.filter((it) => !isNothingNew(history, it)).length,
  };
}
