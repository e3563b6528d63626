/**
 * Keeps the process small. Left to itself, V8 lets a heap whose contents are some tens of megabytes grow to several
 * hundred before it collects: on a machine with much memory it takes no account of who else needs some.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** By how much, in per cent, the heap may grow over what the last collection left. */
const GROWTH_PERCENT = 125;
/** Collecting a younger generation than this more often costs more time than it saves memory. */
const YOUNG_BYTES = 16 * 2 ** 20;

/** Has the collector come sooner, and the young generation stay as it is once it is large enough. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < YOUNG_BYTES) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
