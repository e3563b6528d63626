/** How the time of work grows with its input, by the processor time of this thread: a busy machine does not matter. */

const SHORT = 250_000;
const LONG = 1_000_000;
/** Below this the clock says little, and nothing is slow. */
const QUICK_MS = 40;

/** How many times longer the work takes on a text four times as long (250 kB and 1 MB): about 4 when it is linear, 16 when it is quadratic. */
export function slowdown(textOf: (length: number) => string, work: (text: string) => unknown): number {
  // What is quadratic takes minutes at full length, so it is first tried on less.
  for (const length of [LONG / 256, LONG / 64, LONG / 16]) {
    const short = cpuMs(work, textOf(length));
    if (short > 10 * QUICK_MS) return Number.POSITIVE_INFINITY;
  }
  const [short, long] = [SHORT, LONG].map((length) => Math.min(...[1, 2].map(() => cpuMs(work, textOf(length)))));
  return (long ?? 0) / Math.max(short ?? 0, QUICK_MS / 4);
}

function cpuMs(work: (text: string) => unknown, text: string): number {
  const before = process.threadCpuUsage();
  work(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
