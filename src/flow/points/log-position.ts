/**
 * Where the request log ended when it was read, so that later readings begin there. Positions are starts of rows by the
 * service's clock: what is sent after a reading starts after every row of it, however much two clocks differ.
 */

export interface LogPosition {
  /** Notes how the log ended at a reading whose answer came at this instant; undefined when it was empty. */
  readonly note: (readMs: number, newest: Date | undefined) => void;
  /** True once the log was read. */
  readonly isKnown: () => boolean;
  /** Where a reading begins that has to show what was sent from an instant on; undefined is the log's beginning. */
  readonly startFor: (sentMs: number) => Date | undefined;
}

/** Several machines of a service may write rows a little out of order. */
const MARGIN_MS = 5000;
/** Without a position, a reading begins so long before the call by our clock. */
const BEFORE_MS = 3_600_000;
/** Older positions matter only to calls that are under way for long. */
const MOST_KEPT = 100;

/** The positions of one process. */
export function openLogPosition(): LogPosition {
  const positions: { readonly readMs: number; readonly newest: Date | undefined }[] = [];
  return {
    note: (readMs, newest) => {
      positions.push({ readMs, newest });
      if (positions.length > MOST_KEPT) positions.splice(1, 1);
    },
    isKnown: () => positions.length > 0,
    startFor: (sentMs) => {
      const position = positions.findLast(({ readMs }) => readMs <= sentMs);
      if (!position) return new Date(sentMs - BEFORE_MS);
      return position.newest && new Date(position.newest.getTime() - MARGIN_MS);
    },
  };
}
