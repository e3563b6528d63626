/** Combines concurrent calls into batches, so that they share a round trip and a commit. */
import { type BatchLimits, endOfBatch } from './in-batches.ts';

export interface BatcherOptions<In> extends Partial<BatchLimits<In>> {
  /** The most items of one batch. */
  readonly maxItems: number;
  /**
   * True if an error makes single retries pointless or unsafe: each item would fail too, or some may be done already.
   */
  readonly failsWholeBatch: (error: unknown) => boolean;
  /** Waits for further calls of the same moment. */
  readonly linger?: () => Promise<unknown>;
}

interface Pending<In, Out> {
  readonly item: In;
  readonly done: (out: Out) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A function that processes one item, in batches. One batch is processed at a time. Calls in the meantime form the next
 * batch, in the order of the calls. Apart from `linger`, a call never waits for others, so a single call starts
 * immediately. `work` returns one result per item, in order.
 */
export function batched<In, Out>(
  work: (items: readonly In[]) => Promise<readonly Out[]>,
  { maxItems, weightOf = () => 0, maxWeight = Number.POSITIVE_INFINITY, failsWholeBatch, linger }: BatcherOptions<In>,
): (item: In) => Promise<Out> {
  const waiting: Pending<In, Out>[] = [];
  let isProcessing = false;

  const limits = { maxItems, maxWeight, weightOf: ({ item }: Pending<In, Out>) => weightOf(item) };
  const nextBatch = (): Pending<In, Out>[] => waiting.splice(0, endOfBatch(waiting, limits));

  const doBatch = async (batch: readonly Pending<In, Out>[]): Promise<void> => {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [index, { done }] of batch.entries()) done(results[index] as Out);
    } catch (error) {
      if (batch.length === 1 || failsWholeBatch(error)) for (const { fail } of batch) fail(error);
      else for (const pending of batch) await doBatch([pending]);
    }
  };

  const processAll = async (): Promise<void> => {
    isProcessing = true;
    if (linger) await linger();
    while (waiting.length > 0) await doBatch(nextBatch());
    isProcessing = false;
  };

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    waiting.push({ item, done: resolve, fail: reject });
    if (!isProcessing) void processAll();
    return promise;
  };
}
