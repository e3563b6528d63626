/**
 * Ends a process whose event loop is stuck in the embedded database on a full disk. It is a thread of its own, because
 * the stuck thread runs no timer and no signal handler any more.
 */
import { Worker } from 'node:worker_threads';
import { EXIT } from '../../errors.ts';

/** A long statement on a full disk must not be taken for a stuck one. */
const STUCK_AFTER_MS = 10_000;
/** When a segment of the log (16 MiB) does not fit, up to 22 MB were seen free. */
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

/** Starts the watchdog for a folder, and returns what ends it. It keeps no process alive. */
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
  // The text of the function, because a bundle has no file for a thread.
  const worker = new Worker(`(${watch.toString()})()`, { eval: true, workerData, execArgv: [] });
  // Without the thread there is no watchdog, which is no reason to end a run.
  worker.on('error', () => undefined);
  worker.unref();
  return () => {
    clearInterval(beating);
    void worker.terminate();
  };
}

/** Runs in the thread, with nothing of this module. */
function watch(): void {
  const threads = process.getBuiltinModule('node:worker_threads');
  const fs = process.getBuiltinModule('node:fs');
  const inspector = process.getBuiltinModule('node:inspector');
  const { folder, beats, stuckAfterMs, fullBelowBytes, beatEveryMs, exitCode } = threads.workerData as WatchData;
  const count = new Int32Array(beats);
  let last = -1;
  let sinceMs = 0;
  const trouble = (): string | undefined => {
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
    const because = trouble();
    if (because === undefined) return;
    fs.writeSync(
      2,
      `error: the embedded warehouse in ${folder} does not return from a write: ${because}\n` +
        'next: Make room on that disk, then run it again. Requests in flight are listed as in doubt.\n',
    );
    // A debugger can interrupt the stuck thread; an exit of this thread would end this thread alone.
    const session = new inspector.Session();
    session.connectToMainThread();
    session.post('Runtime.evaluate', { expression: `process.exit(${exitCode})` });
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 3000);
    sinceMs = Number.NEGATIVE_INFINITY;
  }, beatEveryMs);
}
