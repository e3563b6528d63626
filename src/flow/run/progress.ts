/** Counts the progress of a run. */
import type { Progress } from '../../ledger/summary.ts';

/**
 * Returns callbacks for the run's events that report progress after each. `counts` are the ledger's counts by state.
 */
export function progressCallbacks(
  sync: string,
  counts: Readonly<Record<string, number>>,
  onProgress: (progress: Progress) => void,
) {
  const planned = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const state = { done: planned - (counts['planned'] ?? 0), total: planned, rows: 0, points: 0 };
  const inFlight = new Set<Date>();
  const report = (): void => {
    const [oldestSentAt] = inFlight;
    onProgress({ sync, ...state, inFlight: inFlight.size, oldestSentAt });
  };
  report();
  return {
    onPlanned: (requests: number): void => {
      state.total += requests;
    },
    onSent: (sentAt: Date): (() => void) => {
      inFlight.add(sentAt);
      report();
      return () => inFlight.delete(sentAt);
    },
    onEnded: (rows: number, points: number): void => {
      state.done += 1;
      state.rows += rows;
      state.points += points;
      report();
    },
  };
}
