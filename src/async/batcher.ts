/** Does together what many ask for at the same time, so that they share a round trip and a commit. */

export interface BatcherOptions<In> {
  /** The most that one batch takes. */
  readonly maxItems: number;
  /** What an item weighs, and the most that a batch of several may weigh; absent, items weigh nothing. */
  readonly weightOf?: (item: In) => number;
  readonly maxWeight?: number;
  /** True of an error after which no item may be done by itself: each would meet it too, or some may be done already. */
  readonly failsWholeBatch: (error: unknown) => boolean;
  /** Lets those come along that are asked for at the same moment. */
  readonly linger?: () => Promise<unknown>;
}

interface Pending<In, Out> {
  readonly item: In;
  readonly done: (out: Out) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A function that does its work for one item, in batches: one is at work at a time, and what is asked meanwhile makes up
 * the next, in the order of asking. Nothing waits for company beyond the moment, so whoever asks alone is served at once.
 * The work gives one result an item, in order.
 */
export function batched<In, Out>(
  work: (items: readonly In[]) => Promise<readonly Out[]>,
  { maxItems, weightOf = () => 0, maxWeight = Number.POSITIVE_INFINITY, failsWholeBatch, linger }: BatcherOptions<In>,
): (item: In) => Promise<Out> {
  const waiting: Pending<In, Out>[] = [];
  let isAtWork = false;

  const nextBatch = (): Pending<In, Out>[] => {
    let [count, weight] = [0, 0];
    for (const { item } of waiting) {
      weight += weightOf(item);
      if (count === maxItems || (count > 0 && weight > maxWeight)) break;
      count += 1;
    }
    return waiting.splice(0, count);
  };

  const doBatch = async (batch: readonly Pending<In, Out>[]): Promise<void> => {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [index, { done }] of batch.entries()) done(results[index] as Out);
    } catch (error) {
      if (batch.length === 1 || failsWholeBatch(error)) for (const { fail } of batch) fail(error);
      else for (const asked of batch) await doBatch([asked]);
    }
  };

  const goOn = async (): Promise<void> => {
    isAtWork = true;
    if (linger) await linger();
    while (waiting.length > 0) await doBatch(nextBatch());
    isAtWork = false;
  };

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    waiting.push({ item, done: resolve, fail: reject });
    if (!isAtWork) void goOn();
    return promise;
  };
}
