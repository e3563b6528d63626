/**
 * Limits the memory of the process. By default, V8 lets a heap with some tens of megabytes of data grow to several hundred
 * before it collects. On a machine with much memory it does not consider other processes.
 *
 * V8 uses compiled code, also that of Node itself, only under the settings with which it was compiled. So a process changes
 * its settings when it has grown, and a short command never does.
 */
import { availableParallelism } from 'node:os';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';

/** The size of the heap, with its free space, that a short command does not reach. */
const GROWN_BYTES = 48 * 2 ** 20;

/** How much the heap may grow beyond its size after the last collection, in per cent. */
const GROWTH_PERCENT = 125;
/** The same for a large process: it collects more often, which costs some per cent of its time. */
const TIGHT_GROWTH_PERCENT = 70;
const MUCH_BYTES = 190 * 2 ** 20;
/** The size of the young generation from which it stops growing. A smaller one costs more time than it saves memory. */
const YOUNG_BYTES = 16 * 2 ** 20;
/** With at most this many processors, parallel collector threads would take processor time from the database. */
const FEW_PROCESSORS = 2;
/** Makes V8 collect earlier once the process has grown, and stops the growth of the young generation once it is large enough. */
export function keepHeapSmall(): void {
  // V8 does not compare this setting.
  if (availableParallelism() <= FEW_PROCESSORS) setFlagsFromString('--no-parallel-scavenge');
  let percent = 0;
  let isYoungSet = false;
  new PerformanceObserver((list) => {
    const isGrown = percent > 0 || getHeapStatistics().total_heap_size >= GROWN_BYTES;
    if (!isGrown) return;
    if (percent === 0 || list.getEntries().some(isMajor)) {
      const wanted = process.memoryUsage.rss() > MUCH_BYTES ? TIGHT_GROWTH_PERCENT : GROWTH_PERCENT;
      if (wanted !== percent) setFlagsFromString(`--heap-growing-percent=${wanted}`);
      percent = wanted;
    }
    if (!isYoungSet && youngBytes() >= YOUNG_BYTES) {
      setFlagsFromString('--semi-space-growth-factor=1');
      isYoungSet = true;
    }
  }).observe({ entryTypes: ['gc'] });
}

const isMajor = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
