/** Runs that are shared in chunks, as workers see them. */
import { expect } from 'vitest';
import { executeChunk, type ChunkResult } from '../../src/flow/run/chunk.ts';
import { type FlowEffects, type Invocation, openInvocation } from '../../src/flow/run/invocation.ts';
import { invocationBudget } from '../../src/control/budget/budget.ts';
import type { ChunkOrder } from '../../src/flow/run/share-run.ts';
import { NO_ROW_COUNTER } from '../../src/flow/run/analyze-tables.ts';
import { runSync } from '../../src/sync.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { configOf, countingIds, type Scene, service } from './scene.ts';

/** A sync of so many groups. */
export const groupsConfig = (requests: number, more = ''): string => `${service()}
${more}
syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ${JSON.stringify(Array.from({ length: requests }, (_, at) => `n${at}`))} }
`;

/** One group for every request, for a point. */
export const oneGroup = ({ endpoint, body }: { readonly endpoint: string; readonly body: unknown }) =>
  endpoint === 'pronet.group'
    ? { body: [{ urn: { type: 'group', value: (body as { group: string }).group }, name: 'a', url: 'u' }] }
    : undefined;

interface WorkAs {
  readonly warehouse?: Warehouse;
  /** The config of the worker, if it is another one. */
  readonly yaml?: string;
}

export interface Shared {
  readonly orders: readonly ChunkOrder[];
  /** Carries out a chunk as a worker of its own would. */
  readonly work: (order: ChunkOrder | undefined, as?: WorkAs) => Promise<ChunkResult>;
  /** Carries out all chunks as one worker would. */
  readonly workAll: (warehouse?: Warehouse) => Promise<ChunkResult[]>;
}

/** A run of the only sync, prepared, in another warehouse's stead where one is given, and handed over in chunks. */
export async function shared(
  scene: Scene,
  yaml: string,
  { chunkSize, warehouse: own = scene.warehouse }: { readonly chunkSize: number; readonly warehouse?: Warehouse },
): Promise<Shared> {
  const readConfig = async (text: string) => {
    const config = await configOf(text, scene.sandbox.url);
    const [first] = config.syncs;
    if (!first) throw new Error('no sync');
    return { config, definition: first };
  };
  const { config: read, definition } = await readConfig(yaml);
  let workers = 0;
  const invocation = (warehouse: Warehouse, config = read): Promise<Invocation> => {
    const effects: FlowEffects = {
      now: scene.clock.now,
      sleep: scene.clock.sleep,
      random: () => 0.5,
      newId: countingIds(100 + (workers += 1)),
      onProgress: () => undefined,
      onNotice: (it) => scene.notices.push(it),
    };
    return openInvocation(config, warehouse, effects);
  };
  const { signal } = new AbortController();
  const it = await invocation(own);
  const orders: ChunkOrder[] = [];
  const ended = await runSync(
    it,
    {
      definition,
      options: { refresh: false, failOnTruncated: false },
      budget: await invocationBudget(own, read.budget, {}, it.effects),
      rowCounter: NO_ROW_COUNTER,
      share: { chunkSize, enqueue: async (_, given) => void orders.push(...given) },
    },
    signal,
  );
  await it.close();
  expect(ended).toBe('shared');
  return {
    orders,
    workAll: async (warehouse = scene.warehouse) => {
      const worker = await invocation(warehouse);
      const ends: ChunkResult[] = [];
      for (const order of orders) ends.push(await executeChunk(worker, definition, order, signal));
      await worker.close();
      return ends;
    },
    work: async (order, { warehouse = scene.warehouse, yaml: ownYaml = yaml } = {}) => {
      if (!order) throw new Error('no such chunk');
      const its = await readConfig(ownYaml);
      const worker = await invocation(warehouse, its.config);
      try {
        return await executeChunk(worker, its.definition, order, signal);
      } finally {
        await worker.close();
      }
    },
  };
}
