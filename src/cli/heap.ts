/**
 * Limits the memory and the compiler of the process. By default, V8 lets a heap with some tens of megabytes of data grow to several hundred
 * before it collects. On a machine with much memory it does not consider other processes.
 */
import { availableParallelism } from 'node:os';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** How much the heap may grow beyond its size after the last collection, in per cent. */
const GROWTH_PERCENT = 125;
/** The same for a large process: it collects more often, which costs some per cent of its time. */
const TIGHT_GROWTH_PERCENT = 70;
const MUCH_BYTES = 190 * 2 ** 20;
/** The size of the young generation from which it stops growing. A smaller one costs more time than it saves memory. */
const YOUNG_BYTES = 16 * 2 ** 20;
/** With at most this many processors, parallel collector threads would take processor time from the database. */
const FEW_PROCESSORS = 2;
/**
 * A function of the embedded database is optimized once it has executed about this many bytes. With V8's default of
 * 1.8 MB, its start-up is optimized too, which takes longer than the start-up.
 */
const OPTIMIZED_AFTER_BYTES = 1_000_000_000;

/** Makes V8 optimize only those functions of the embedded database in which a process spends its time. */
export function optimizeLate(): void {
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMIZED_AFTER_BYTES}`);
}

/** Makes V8 collect earlier, and stops the growth of the young generation once it is large enough. */
export function keepHeapSmall(): void {
  let percent = 0;
  const setGrowth = (wanted: number): void => {
    if (wanted !== percent) setFlagsFromString(`--heap-growing-percent=${wanted}`);
    percent = wanted;
  };
  let isYoungSet = false;
  setGrowth(GROWTH_PERCENT);
  if (availableParallelism() <= FEW_PROCESSORS) setFlagsFromString('--no-parallel-scavenge');
  new PerformanceObserver((list) => {
    if (!isYoungSet && youngBytes() >= YOUNG_BYTES) {
      setFlagsFromString('--semi-space-growth-factor=1');
      isYoungSet = true;
    }
    if (list.getEntries().some(isMajor))
      setGrowth(process.memoryUsage.rss() > MUCH_BYTES ? TIGHT_GROWTH_PERCENT : GROWTH_PERCENT);
  }).observe({ entryTypes: ['gc'] });
}

const isMajor = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
