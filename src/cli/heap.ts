/**
 * Keeps the process small. Left to itself, V8 lets a heap whose contents are some tens of megabytes grow to several
 * hundred before it collects: on a machine with much memory it takes no account of who else needs some.
 */
import { availableParallelism } from 'node:os';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** By how much, in per cent, the heap may grow over what the last collection left. */
const GROWTH_PERCENT = 125;
/** The same of a process that holds much: it collects more often, which costs some per cent of its time. */
const TIGHT_GROWTH_PERCENT = 70;
const MUCH_BYTES = 190 * 2 ** 20;
/** Collecting a younger generation than this more often costs more time than it saves memory. */
const YOUNG_BYTES = 16 * 2 ** 20;
/** Where there are no more processors, those threads that would help to collect take them from the database. */
const FEW_PROCESSORS = 2;

/** Has the collector come sooner, and the young generation stay as it is once it is large enough. */
export function keepHeapSmall(): void {
  let percent = 0;
  const grow = (by: number): void => {
    if (by !== percent) setFlagsFromString(`--heap-growing-percent=${by}`);
    percent = by;
  };
  let isYoungSet = false;
  grow(GROWTH_PERCENT);
  if (availableParallelism() <= FEW_PROCESSORS) setFlagsFromString('--no-parallel-scavenge');
  new PerformanceObserver((list) => {
    if (!isYoungSet && youngBytes() >= YOUNG_BYTES) {
      setFlagsFromString('--semi-space-growth-factor=1');
      isYoungSet = true;
    }
    if (list.getEntries().some(isMajor))
      grow(process.memoryUsage.rss() > MUCH_BYTES ? TIGHT_GROWTH_PERCENT : GROWTH_PERCENT);
  }).observe({ entryTypes: ['gc'] });
}

const isMajor = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
