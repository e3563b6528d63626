/** Reports the progress of a run after each event of its requests, and the long waits between two attempts. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { Progress } from '../../ledger/summary.ts';
import type { Invocation } from '../run/invocation.ts';
import type { RunContext } from '../run/run-context.ts';

/** A longer wait is reported in a line of its own. */
const LONG_WAIT_MS = 10_000;

/** A request that waits for its next attempt. */
interface RetryWait {
  readonly until: Date;
  /** The status of the failed attempt; undefined if the service did not answer. */
  readonly status: number | undefined;
}

/** Returns the callbacks for the events of a run's requests. `counts` are the ledger's counts by state. */
export function openProgress(
  { effects: { onProgress, onNotice, now }, waitReportedUntil }: Invocation,
  { name: sync, endpoint }: SyncDefinition,
  counts: Readonly<Record<string, number>>,
): Pick<RunContext, 'onPlanned' | 'onSent' | 'onWait' | 'onEnded'> {
  const planned = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const state = { done: planned - (counts['planned'] ?? 0), total: planned, rows: 0, points: 0 };
  const inFlight = new Set<Date>();
  const waits = new Set<RetryWait>();
  const report = (): void => {
    const [oldestSentAt] = inFlight;
    onProgress({ sync, ...state, inFlight: inFlight.size, oldestSentAt, ...waitingOf(waits) });
  };
  const during = <T>(present: Set<T>, item: T): (() => void) => {
    present.add(item);
    report();
    return () => {
      present.delete(item);
      report();
    };
  };
  report();
  return {
    onPlanned: (requests) => {
      state.total += requests;
    },
    onSent: (sentAt) => during(inFlight, sentAt),
    onWait: (afterMs, status) => {
      const at = now();
      const until = new Date(at.getTime() + afterMs);
      if (afterMs > LONG_WAIT_MS && at >= (waitReportedUntil.get(endpoint.name) ?? new Date(0))) {
        waitReportedUntil.set(endpoint.name, until);
        const found = status === undefined ? 'did not answer' : `answered ${status}`;
        const message = `${endpoint.name} ${found}; the next attempt is in ${Math.round(afterMs / 1000)} s`;
        onNotice({ level: 'info', sync, message });
      }
      return during(waits, { until, status });
    },
    onEnded: (rows, points) => {
      state.done += 1;
      state.rows += rows;
      state.points += points;
      report();
    },
  };
}

type Waiting = Pick<Progress, 'waiting' | 'nextAttemptAt' | 'waitStatuses'>;

const NO_WAITS: Waiting = { waiting: 0, nextAttemptAt: undefined, waitStatuses: [] };

function waitingOf(waits: ReadonlySet<RetryWait>): Waiting {
  if (waits.size === 0) return NO_WAITS;
  return {
    waiting: waits.size,
    nextAttemptAt: new Date(Math.min(...[...waits].map(({ until }) => until.getTime()))),
    waitStatuses: [...new Set([...waits].flatMap(({ status }) => status ?? []))].toSorted((a, b) => a - b),
  };
}
