/** Caches the forecast of the schedules for alerts, because planning all syncs after each run would take too long. */
import { DAY_MS } from '../day.ts';
import type { ScheduledPoints } from './budget-conditions.ts';

/** Every month ends within this time, and a sync that fires once a month fires in it. */
const AHEAD_MS = 31 * DAY_MS;
/** The shortest time between two forecasts. */
const KEPT_MS = 3_600_000;
/** Forecasts take at most this fraction (1 / 20) of the time, however many inputs there are. */
const PART_OF_TIME = 20;

/**
 * A function that returns the forecast of the next 31 days, at most an hour old or as long as it is expensive. If the
 * forecast fails, for example because a file of inputs is missing, it returns an empty list for that time.
 */
export function keepScheduledPoints(
  forecast: (until: Date) => Promise<readonly ScheduledPoints[]>,
  now: () => Date,
): () => Promise<readonly ScheduledPoints[]> {
  let kept: { readonly untilMs: number; readonly points: readonly ScheduledPoints[] } | undefined;
  return async () => {
    const startedMs = now().getTime();
    if (kept && startedMs < kept.untilMs) return kept.points;
    const points = await forecast(new Date(startedMs + AHEAD_MS)).catch(() => []);
    const endedMs = now().getTime();
    kept = { untilMs: endedMs + Math.max(KEPT_MS, (endedMs - startedMs) * PART_OF_TIME), points };
    return points;
  };
}
