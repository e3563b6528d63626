/**
 * The database's clock as this process knows it. Every time that is stored, or compared with a stored one, is of this
 * clock: the clocks of two processes may differ by years, and a receipt in the future would be fresh until then.
 */
export interface DatabaseClock {
  /** The database's time. Steps of the process's clock do not change it. */
  readonly now: () => Date;
  /** Compares with the database once more, and follows it where its clock was set. */
  readonly check: () => Promise<void>;
  /** How far the process's clock is ahead of the database's. */
  readonly aheadMs: () => number;
}

export interface ClockEffects {
  /** The process's clock. */
  readonly now: () => Date;
  /** Milliseconds on a clock that nothing sets; absent, the process's clock is taken for one. */
  readonly elapsedMs?: () => number;
}

/** A difference of the two clocks that is warned of; a time so far ahead of the database's is in the future. */
const APART_MS = 60_000;

/** The clock of the database that answers `ask`. */
export async function openDatabaseClock(ask: () => Promise<Date>, effects: ClockEffects): Promise<DatabaseClock> {
  const elapsedMs = effects.elapsedMs ?? ((): number => effects.now().getTime());
  let offsetMs: number | undefined;
  let aheadMs = 0;
  const check = async (): Promise<void> => {
    const askedAtMs = elapsedMs();
    const databaseMs = (await ask()).getTime();
    const answeredAtMs = elapsedMs();
    aheadMs = effects.now().getTime() - databaseMs;
    // The database read its clock between question and answer. Within these bounds the time is left as it is, so that it
    // does not jump with each check; at first the earliest is taken, so that no receipt is in the database's future.
    const [least, most] = [databaseMs - answeredAtMs, databaseMs - askedAtMs];
    offsetMs = Math.min(Math.max(offsetMs ?? least, least), Math.max(least, most));
  };
  await check();
  return { now: () => new Date(elapsedMs() + (offsetMs ?? 0)), check, aheadMs: () => aheadMs };
}

/** What to tell of clocks that are too far apart; undefined when they agree. */
export function clockWarning(clock: Pick<DatabaseClock, 'aheadMs'>): string | undefined {
  const aheadMs = clock.aheadMs();
  if (Math.abs(aheadMs) <= APART_MS) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's, whose time is used; set the machine's clock`;
}

/** The last instant that is not in the future. */
export const latestKnown = (now: Date): Date => new Date(now.getTime() + APART_MS);
