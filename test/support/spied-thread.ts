/**
 * Loaded before a program with `--import`: reports when the thread of an embedded database gets a statement that names
 * `generate_series`. With `SPIED_THREAD=end` the thread is then ended, as when its memory is exhausted.
 */
import type { Worker } from 'node:worker_threads';

process.on('worker', (thread: Worker) => {
  const post = thread.postMessage.bind(thread);
  thread.postMessage = (message: unknown, ...others: never[]): void => {
    const isLong = message instanceof Uint8Array && Buffer.from(message).includes('generate_series');
    post(message, ...others);
    if (!isLong) return;
    process.stderr.write('the long statement was sent\n');
    if (process.env['SPIED_THREAD'] === 'end') void thread.terminate();
  };
});
