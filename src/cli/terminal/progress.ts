/** Shows the progress of a run: as one live line on a terminal, otherwise as occasional plain lines. */
import type { Progress } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withNoun, duration, withThousands } from './print.ts';
import type { StatusLine } from './status-line.ts';

/** `live` rewrites one line, `lines` writes plain lines, `facts` logs fields, `none` shows nothing. */
export type ProgressStyle = 'live' | 'lines' | 'facts' | 'none';

/** The state of the work in progress. Absent fields are left out of the line. */
export type ProgressUpdate = Pick<Progress, 'sync' | 'done' | 'total'> & Partial<Progress>;

export interface ProgressReporter {
  /** Sets the newest state of the work. */
  readonly update: (reading: ProgressUpdate) => void;
  /** Called by a timer, so that ages are updated while no request ends. */
  readonly tick: () => void;
  /** Ends the display. */
  readonly end: () => void;
}

export interface ProgressOptions {
  readonly style: ProgressStyle;
  /** Shows the line of the `live` style. */
  readonly status: StatusLine;
  /** Writes a line of the `lines` style, with its line break. */
  readonly write: (line: string) => void;
  readonly now: () => Date;
  readonly redact: (text: string) => string;
  /** Logs a state in the `facts` style. */
  readonly log: (message: string, facts: ProgressFacts) => void;
}

/** A shorter interval makes the line flicker and slows the run on a slow terminal; with a longer one, it looks stuck. */
const LIVE_EVERY_MS = 100;
/** The shortest interval between lines, so that the log of a short run is not mostly progress. */
const LINES_EVERY_MS = 5_000;
/** The interval grows to this fraction (1 / 20) of the elapsed time: an hour of work writes tens of lines, not hundreds. */
const LINES_EVERY_PART = 20;
/** The longest interval: calls can take 25 minutes, and some CI runners end a job that is silent for some minutes. */
const STILL_HERE_EVERY_MS = 60_000;

export function createProgress({ style, status, write, now, redact, log }: ProgressOptions): ProgressReporter {
  /** When each sync was first seen, for the estimate of the time left. */
  const since = new Map<string, { readonly at: number; readonly done: number }>();
  let latest: ProgressUpdate | undefined;
  let begunAt: number | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  let isNew = false;

  const show = (progress: ProgressUpdate): void => {
    const leftMs = timeLeftMs(progress, since.get(progress.sync), now());
    shownAt = now().getTime();
    isNew = false;
    if (style === 'facts') return log('progress', factsOf(progress, leftMs, now()));
    const line = escapeControls(redact(progressLine(progress, leftMs, now())));
    if (style === 'live') status.show(line);
    else write(`${line}\n`);
  };
  const tick = (): void => {
    if (style === 'none' || !latest) return;
    const quietMs = now().getTime() - shownAt;
    const due =
      style === 'live' ? LIVE_EVERY_MS : isNew ? linesEveryMs(now().getTime() - (begunAt ?? 0)) : STILL_HERE_EVERY_MS;
    if (quietMs >= due) show(latest);
  };
  return {
    update: (progress) => {
      if (!since.has(progress.sync)) since.set(progress.sync, { at: now().getTime(), done: progress.done });
      latest = progress;
      begunAt ??= now().getTime();
      isNew = true;
      tick();
    },
    tick,
    end: () => {
      latest = undefined;
      status.clear();
    },
  };
}

const linesEveryMs = (elapsedMs: number): number =>
  Math.min(STILL_HERE_EVERY_MS, Math.max(LINES_EVERY_MS, elapsedMs / LINES_EVERY_PART));

/**
 * The estimated time left, assuming that each remaining request takes as long as the completed ones. Undefined before the
 * first request is done.
 */
export function timeLeftMs(
  { done, total }: Pick<Progress, 'done' | 'total'>,
  since: { readonly at: number; readonly done: number } | undefined,
  now: Date,
): number | undefined {
  const ended = since ? done - since.done : 0;
  if (!since || ended <= 0 || total <= done) return undefined;
  return ((now.getTime() - since.at) / ended) * (total - done);
}

/** The state of the work in one line. */
function progressLine(reading: ProgressUpdate, leftMs: number | undefined, now: Date): string {
  const { sync, done, total, rows, points, inFlight, oldestSentAt } = reading;
  const waits = waitText(reading, now);
  const age = oldestSentAt ? `, oldest ${duration(Math.max(0, now.getTime() - oldestSentAt.getTime()))}` : '';
  return [
    `${sync}: ${withThousands(done)} of ${withThousands(total)}`,
    ...(rows === undefined ? [] : [withNoun(rows, 'row')]),
    ...(points === undefined ? [] : [withNoun(points, 'point')]),
    ...(inFlight === undefined ? [] : [`${withThousands(inFlight)} in flight${age}`]),
    ...(waits === undefined ? [] : [waits]),
    ...(leftMs === undefined ? [] : [`${duration(leftMs)} left`]),
  ].join(' | ');
}

/** The requests that wait for their next attempt, and why; undefined if there are none. */
function waitText({ waiting, nextAttemptAt, waitStatuses = [] }: ProgressUpdate, now: Date): string | undefined {
  if (waiting === undefined || nextAttemptAt === undefined) return undefined;
  const statuses = waitStatuses.length === 0 ? '' : ` (${waitStatuses.join(', ')})`;
  return `${withThousands(waiting)} waiting${statuses}, next in ${duration(leftUntil(nextAttemptAt, now))}`;
}

const leftUntil = (at: Date, now: Date): number => Math.max(0, at.getTime() - now.getTime());

/** The fields of a line of the `facts` style. */
type ProgressFacts = ReturnType<typeof factsOf>;

function factsOf(reading: ProgressUpdate, leftMs: number | undefined, now: Date) {
  const { oldestSentAt, nextAttemptAt, waitStatuses, ...rest } = reading;
  return {
    ...rest,
    ...(nextAttemptAt && { waitMs: leftUntil(nextAttemptAt, now), waitStatuses }),
    ...(oldestSentAt && { oldestMs: now.getTime() - oldestSentAt.getTime() }),
    ...(leftMs !== undefined && { leftMs: Math.round(leftMs) }),
  };
}
