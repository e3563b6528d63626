/**
 * The end of the request log at each read, so that later reads begin there. Positions are start times of rows by the
 * service's clock. A request sent after a read starts after every row of that read, whatever the difference between the
 * two clocks.
 */

export interface LogPosition {
  /** Records the newest row of a read and the time of the answer; `newest` is undefined for an empty log. */
  readonly note: (readMs: number, newest: Date | undefined) => void;
  /** True once the log was read. */
  readonly isKnown: () => boolean;
  /**
   * Returns where a read must begin to include calls sent since an instant; undefined means the beginning of the log.
   */
  readonly startFor: (sentMs: number) => Date | undefined;
  /** Makes reads begin by our clock if a newest row was in its future; false if that changes nothing. */
  readonly useOurClock: () => boolean;
}

/** Several machines of a service may write rows slightly out of order. */
export const MARGIN_MS = 5000;
/** Without a position, a read begins this long before the call by our clock. */
const BEFORE_MS = 3_600_000;
/** The usual deadline of a call. */
const CALL_MS = 330_000;
/** Older positions matter only to very long calls. */
const MOST_KEPT = 100;

/** Creates the positions of one process. */
export function openLogPosition(): LogPosition {
  const positions: { readonly readMs: number; readonly newest: Date | undefined }[] = [];
  let usesOurClock = false;
  return {
    note: (readMs, newest) => {
      positions.push({ readMs, newest });
      if (positions.length > MOST_KEPT) positions.splice(1, 1);
    },
    isKnown: () => positions.length > 0,
    startFor: (sentMs) => {
      const position = positions.findLast(({ readMs }) => readMs <= sentMs);
      const byOurClock = new Date(sentMs - BEFORE_MS);
      if (!position) return byOurClock;
      const from = position.newest && new Date(position.newest.getTime() - MARGIN_MS);
      return usesOurClock && from && from > byOurClock ? byOurClock : from;
    },
    useOurClock: () => {
      const isNew = !usesOurClock && positions.some(({ readMs, newest }) => newest && newest.getTime() > readMs);
      usesOurClock ||= isNew;
      return isNew;
    },
  };
}

/**
 * Where a reading of the balance begins, in order of preference. A call that began before the newest row and ended after it
 * may show a later balance. A row from the future hides the newest one. A log with too many such rows is read from the newest
 * row only; otherwise its balance could never be known.
 */
export function startsOfBalance(newest: Date, present: Date): readonly [Date, ...Date[]] {
  const beforeNewest = new Date(newest.getTime() - CALL_MS);
  if (newest <= present) return [beforeNewest, newest];
  return [new Date(present.getTime() - BEFORE_MS), beforeNewest, newest];
}
