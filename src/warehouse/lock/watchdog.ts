/**
 * Ends a process whose event loop is stuck in the embedded database on a full disk. It runs in a separate thread,
 * because the stuck thread runs no timers and no signal handlers.
 */
import { Worker } from 'node:worker_threads';
import { EXIT } from '../../errors.ts';

/** How long the thread must be silent to count as stuck. A long statement must not count. */
const STUCK_AFTER_MS = 10_000;
/**
 * With less free space the disk counts as full. If a log segment (16 MiB) does not fit, up to 22 MB were measured as
 * free.
 */
const FULL_BELOW_BYTES = 40 * 2 ** 20;
const BEAT_EVERY_MS = 500;

interface WatchData {
  readonly folder: string;
  readonly beats: SharedArrayBuffer;
  readonly stuckAfterMs: number;
  readonly fullBelowBytes: number;
  readonly beatEveryMs: number;
  readonly exitCode: number;
}

/** Starts the watchdog for a folder and returns a function that stops it. It does not keep the process alive. */
export function startWatchdog(folder: string, stuckAfterMs = STUCK_AFTER_MS): () => void {
  const beats = new SharedArrayBuffer(4);
  const count = new Int32Array(beats);
  const beating = setInterval(() => Atomics.add(count, 0, 1), BEAT_EVERY_MS).unref();
  const workerData: WatchData = {
    folder,
    beats,
    stuckAfterMs,
    fullBelowBytes: FULL_BELOW_BYTES,
    beatEveryMs: BEAT_EVERY_MS,
    exitCode: EXIT.transient,
  };
  // The thread gets the text of the function, because a bundle has no file for it.
  const worker = new Worker(`(${watch.toString()})()`, { eval: true, workerData, execArgv: [] });
  // If the thread fails, the run continues without a watchdog.
  worker.on('error', () => undefined);
  worker.unref();
  return () => {
    clearInterval(beating);
    void worker.terminate();
  };
}

/** Runs in the thread. It must not use anything of this module. */
function watch(): void {
  const threads = process.getBuiltinModule('node:worker_threads');
  const fs = process.getBuiltinModule('node:fs');
  const inspector = process.getBuiltinModule('node:inspector');
  const { folder, beats, stuckAfterMs, fullBelowBytes, beatEveryMs, exitCode } = threads.workerData as WatchData;
  const count = new Int32Array(beats);
  let last = -1;
  let sinceMs = 0;
  const cause = (): string | undefined => {
    try {
      const { bavail, bsize } = fs.statfsSync(folder);
      return bavail * bsize < fullBelowBytes ? 'its disk is full' : undefined;
    } catch {
      return 'the folder is gone';
    }
  };
  setInterval(() => {
    const now = Atomics.load(count, 0);
    sinceMs = now === last ? sinceMs + beatEveryMs : 0;
    last = now;
    if (sinceMs < stuckAfterMs) return;
    const because = cause();
    if (because === undefined) return;
    fs.writeSync(
      2,
      `error: the embedded warehouse in ${folder} does not return from a write: ${because}\n` +
        'next: Free space on that disk, then try again. Requests in flight are listed as in doubt.\n',
    );
    // A debugger can interrupt the stuck thread. An exit here would end only this thread.
    const session = new inspector.Session();
    session.connectToMainThread();
    session.post('Runtime.evaluate', { expression: `process.exit(${exitCode})` });
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 3000);
    sinceMs = Number.NEGATIVE_INFINITY;
  }, beatEveryMs);
}
