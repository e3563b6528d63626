/** Tells how far a run has come: one live line on a terminal, a plain line now and then elsewhere. */
import type { LogFacts } from '../../telemetry/log.ts';
import type { Progress } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withNoun, duration, withThousands } from './print.ts';
import type { StatusLine } from './status-line.ts';

/** `live` rewrites one line, `lines` writes plain ones, `facts` hands them to a log, `none` tells nothing. */
export type ProgressStyle = 'live' | 'lines' | 'facts' | 'none';

/** What is known of the work under way; what is absent is left out of the line. */
export type ProgressUpdate = Pick<Progress, 'sync' | 'done' | 'total'> & Partial<Progress>;

export interface ProgressReporter {
  /** Takes in the newest state of the work. */
  readonly update: (reading: ProgressUpdate) => void;
  /** Called by a timer, so that ages go on while nothing ends. */
  readonly tick: () => void;
  /** Tells nothing more. */
  readonly end: () => void;
}

export interface ProgressOptions {
  readonly style: ProgressStyle;
  /** Takes the line of the `live` style. */
  readonly status: StatusLine;
  /** Takes each line of the `lines` style, with its line break. */
  readonly write: (line: string) => void;
  readonly now: () => Date;
  readonly redact: (text: string) => string;
  /** Takes a state in the `facts` style. */
  readonly log: (message: string, facts: LogFacts) => void;
}

/** More often, and the line flickers and a slow terminal slows the run; less often, and it looks stuck. */
const LIVE_EVERY_MS = 100;
/** More often, and the log of a short run is all progress. */
const LINES_EVERY_MS = 5_000;
/** Of the time gone by, the part that lies between two lines: so a run of an hour writes some tens of them, not hundreds. */
const LINES_EVERY_PART = 20;
/** A job that says nothing for some minutes is taken for dead by some runners; calls may take 25 minutes. */
const STILL_HERE_EVERY_MS = 60_000;

export function createProgress({ style, status, write, now, redact, log }: ProgressOptions): ProgressReporter {
  /** When each sync was first seen, to tell the time left from. */
  const since = new Map<string, { readonly at: number; readonly done: number }>();
  let latest: ProgressUpdate | undefined;
  let begunAt: number | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  let isNews = false;

  const tell = (progress: ProgressUpdate): void => {
    const leftMs = timeLeftMs(progress, since.get(progress.sync), now());
    toldAt = now().getTime();
    isNews = false;
    if (style === 'facts') return log('progress', factsOf(progress, leftMs, now()));
    const line = escapeControls(redact(progressLine(progress, leftMs, now())));
    if (style === 'live') status.show(line);
    else write(`${line}\n`);
  };
  const tick = (): void => {
    if (style === 'none' || !latest) return;
    const quietMs = now().getTime() - toldAt;
    const due =
      style === 'live' ? LIVE_EVERY_MS : isNews ? linesEveryMs(now().getTime() - (begunAt ?? 0)) : STILL_HERE_EVERY_MS;
    if (quietMs >= due) tell(latest);
  };
  return {
    update: (progress) => {
      if (!since.has(progress.sync)) since.set(progress.sync, { at: now().getTime(), done: progress.done });
      latest = progress;
      begunAt ??= now().getTime();
      isNews = true;
      tick();
    },
    tick,
    end: () => {
      latest = undefined;
      status.clear();
    },
  };
}

const linesEveryMs = (goneMs: number): number =>
  Math.min(STILL_HERE_EVERY_MS, Math.max(LINES_EVERY_MS, goneMs / LINES_EVERY_PART));

/** Assumed: the requests left take as long as those done so far, each. Nothing is known before the first is done. */
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
  const age = oldestSentAt ? `, oldest ${duration(Math.max(0, now.getTime() - oldestSentAt.getTime()))}` : '';
  return [
    `${sync}: ${withThousands(done)} of ${withThousands(total)}`,
    ...(rows === undefined ? [] : [withNoun(rows, 'row')]),
    ...(points === undefined ? [] : [withNoun(points, 'point')]),
    ...(inFlight === undefined ? [] : [`${withThousands(inFlight)} in flight${age}`]),
    ...(leftMs === undefined ? [] : [`${duration(leftMs)} left`]),
  ].join(' | ');
}

function factsOf(reading: ProgressUpdate, leftMs: number | undefined, now: Date): LogFacts {
  const { oldestSentAt, ...rest } = reading;
  return {
    ...rest,
    ...(oldestSentAt && { oldestMs: now.getTime() - oldestSentAt.getTime() }),
    ...(leftMs !== undefined && { leftMs: Math.round(leftMs) }),
  };
}
