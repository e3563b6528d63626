/**
 * An estimate of the database's clock. Every stored time, and every time compared with a stored one, comes from this
 * clock. The clocks of two processes may differ by years, and an answer from the future would stay fresh until then.
 */
export interface DatabaseClock {
  /** The database's time. It is not affected when the process's clock is set. */
  readonly now: () => Date;
  /** Compares with the database again and adjusts the offset if the database's clock was set. */
  readonly check: () => Promise<void>;
  /** How far the process's clock is ahead of the database's. */
  readonly aheadMs: () => number;
}

export interface ClockEffects {
  /** The process's clock. */
  readonly now: () => Date;
  /** Milliseconds on a monotonic clock (default: the process's clock). */
  readonly elapsedMs?: () => number;
}

/** A larger difference of the two clocks gives a warning. A time further ahead of the database's is in the future. */
const APART_MS = 60_000;

/** The clock of the database that `readTime` reads. */
export async function openDatabaseClock(readTime: () => Promise<Date>, effects: ClockEffects): Promise<DatabaseClock> {
  const elapsedMs = effects.elapsedMs ?? ((): number => effects.now().getTime());
  let offsetMs: number | undefined;
  let aheadMs = 0;
  const check = async (): Promise<void> => {
    const sentAtMs = elapsedMs();
    const databaseMs = (await readTime()).getTime();
    const answeredAtMs = elapsedMs();
    aheadMs = effects.now().getTime() - databaseMs;
    // The database read its clock between query and answer, which gives bounds for the offset. An offset within the
    // bounds stays, so that the time does not jump with each check. The first check takes the lower bound, so that no
    // receipt is in the database's future.
    const [least, most] = [databaseMs - answeredAtMs, databaseMs - sentAtMs];
    offsetMs = Math.min(Math.max(offsetMs ?? least, least), Math.max(least, most));
  };
  await check();
  return { now: () => new Date(elapsedMs() + (offsetMs ?? 0)), check, aheadMs: () => aheadMs };
}

/** A warning if the clocks differ too much; undefined if they agree. */
export function clockWarning(clock: Pick<DatabaseClock, 'aheadMs'>): string | undefined {
  const aheadMs = clock.aheadMs();
  if (Math.abs(aheadMs) <= APART_MS) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's; Sluice uses the database's time. Set the machine's clock`;
}

/** The latest instant that does not count as future. */
export const latestKnown = (now: Date): Date => new Date(now.getTime() + APART_MS);
