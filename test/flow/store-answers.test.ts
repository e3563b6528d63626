/** The answers of a run between their storage and their load: how many stay in memory, and when sending pauses. */
import { expect, it } from 'vitest';
import type { QueuedAnswer } from '../../src/flow/ingest/queue.ts';
import { openAnswerStore } from '../../src/flow/run/store-answers.ts';

type Arguments = Parameters<typeof openAnswerStore>;

const MEGABYTE = 2 ** 20;

/** A store whose loads end when the test ends them. */
function openStore() {
  const loads: { readonly stored: QueuedAnswer; readonly end: () => void }[] = [];
  const context = { run: { id: '1' }, definition: { name: 'pages', endpoint: { name: 'any' } } } as Arguments[0];
  const loader = {
    load: (stored: QueuedAnswer) =>
      new Promise((resolve) => {
        loads.push({ stored, end: () => resolve(undefined as never) });
      }),
  } as Arguments[1];
  const store = openAnswerStore(context, loader, { hasFailed: () => false } as Arguments[2], {
    store: async () => String(loads.length + 1),
  });
  const keep = (megabytes: number) => {
    const body = new Uint8Array(megabytes * MEGABYTE);
    const answer = { kind: 'answered', status: 200, headers: {}, body, receivedAt: new Date(0), tookMs: 1 } as const;
    return store.store({ id: '1', requestKey: 'a', request: {} } as Parameters<typeof store.store>[0], answer);
  };
  return { store, keep, loads };
}

it('sending pauses while more than four megabytes of answers wait for their load', async () => {
  const { store, keep, loads } = openStore();
  await keep(4);
  expect(store.hasRoom()).toBe(true);
  const { loaded } = await keep(1);
  expect(store.hasRoom()).toBe(false);
  loads[1]?.end();
  await loaded;
  expect(store.hasRoom()).toBe(true);
});

it('answers of calls that were in flight are kept up to twelve megabytes, and further ones are read back', async () => {
  const { store, keep, loads } = openStore();
  for (const megabytes of [5, 7, 1]) await keep(megabytes);
  expect(loads.map(({ stored }) => stored.answer?.body.byteLength)).toEqual([5 * MEGABYTE, 7 * MEGABYTE, undefined]);
  expect(loads.map(({ stored }) => stored.bytes)).toEqual([5 * MEGABYTE, 7 * MEGABYTE, MEGABYTE]);
  expect(store.hasRoom()).toBe(false);
});

it('an answer that is larger than all room is read back, and sending pauses until it is loaded', async () => {
  const { store, keep, loads } = openStore();
  const { loaded } = await keep(13);
  expect(loads[0]?.stored.answer).toBeUndefined();
  expect(store.hasRoom()).toBe(false);
  loads[0]?.end();
  await loaded;
  expect(store.hasRoom()).toBe(true);
});
