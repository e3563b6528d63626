/** Lower bounds of questions that a sync no longer asks, after its definition changed. */
import { expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { select } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const open = postgresWarehouses();

/** A scene whose searches for companies of this name and posts of this user return as many items as requested. */
const sceneOf = async (full: string): Promise<Scene> =>
  sceneIn(await open(), {
    respond: ({ body }) => {
      const { count, ...question } = body as { count: number };
      const named = JSON.stringify(question).includes(full) && !('date_from' in question);
      const items = Array.from({ length: named ? count : 1 }, (_, at) => ({
        id: `${full}${at}`,
        code: `c${at}`,
        url: 'https://photos.example/p',
        image: 'i',
        accession_number: `0000000001-26-${String(at).padStart(6, '0')}`,
        file_name: 'a.htm',
        file_date: '2026-03-02',
      }));
      return { body: items };
    },
  });

/** The questions of the lower bounds, for readers of the status and of the views. */
async function boundsIn({ warehouse }: Scene): Promise<unknown> {
  const { syncs, lowerBounds } = await readStatus(warehouse);
  const slices = await select<{ filters: string }>(
    warehouse,
    "select filters from sluice.sync_slices where extent = 'lower_bound' order by slice_id desc",
  );
  const shown = lowerBounds.map(({ filters }) => filters);
  expect(slices.map(({ filters }) => JSON.parse(filters) as unknown)).toEqual(shown);
  expect(syncs[0]?.truncated).toBe(shown.length);
  return shown;
}

const yaml = (endpoint: string, lines: readonly string[]): string =>
  `${service()}\nsyncs:\n  a:\n    endpoint: ${endpoint}\n${lines.map((line) => `    ${line}\n`).join('')}`;
const search = (...lines: string[]): string => yaml('sec.search.companies', lines);
const posts = (...lines: string[]): string => yaml('photoshare.user.posts', lines);

it('a lower bound without days ends when the sync gets a window, and returns with the earlier definition', async () => {
  const scene = await sceneOf('Acme');
  const without = search('request: { count: 5, entity_name: Acme }', 'max_age: 30d');
  const window = 'window: { from: 2026-02-02, to: 2026-03-04 }';

  await scene.sync(without);
  expect(await boundsIn(scene)).toEqual([{ entity_name: 'Acme' }]);
  // The same question under other settings is still one.
  await scene.sync(search('request: { count: 5, entity_name: Acme }', 'max_age: 20d', 'accept: { rejects: 100% }'));
  expect(await boundsIn(scene)).toEqual([{ entity_name: 'Acme' }]);
  await scene.sync(search('request: { count: 5, entity_name: Acme }', window));
  expect(await boundsIn(scene)).toEqual([]);
  await scene.sync(without);
  expect(await boundsIn(scene)).toEqual([{ entity_name: 'Acme' }]);
});

it('a lower bound ends when its input leaves the list of the sync, or the sync requests another endpoint', async () => {
  const scene = await sceneOf('many');

  for (const users of ['[many, few]', '[few, many, other]']) {
    await scene.sync(posts(`for_each: { user: ${users} }`, 'request: { count: 5 }', 'max_age: 30d'));
    expect(await boundsIn(scene)).toEqual([{ user: 'many' }]);
  }
  await scene.sync(posts('for_each: { user: [few] }', 'request: { count: 5 }'));
  expect(await boundsIn(scene)).toEqual([]);
  await scene.sync(posts('request: { user: many, count: 5 }'));
  expect(await boundsIn(scene)).toEqual([{ user: 'many' }]);
  await scene.sync(search('request: { count: 5, entity_name: Other }'));
  expect(await boundsIn(scene)).toEqual([]);
});

it('a lower bound of an input remains if the list writes the input in another way that keeps its watermark', async () => {
  const items = Array.from({ length: 9 }, (_, at) => ({
    accession_number: `0000000001-26-00000${at}`,
    file_name: 'a',
  }));
  const scene = await sceneIn(await open(), {
    respond: ({ body }) => ({ body: items.slice(0, (body as { count: number }).count) }),
  });
  const window = ['window: { from: 2026-02-02, to: 2026-02-02 }', 'max_age: 30d'];
  const bound = [{ date_from: '2026-02-02', date_to: '2026-02-02', entity_name: '', forms: ['10-K', '8-K'] }];

  await scene.sync(search('for_each: [{ forms: [8-K, 10-K] }]', 'request: { count: 5 }', ...window));
  expect(await boundsIn(scene)).toEqual(bound);
  for (const input of ['count: 6, forms: [10-K, 8-K]', 'count: 5, timeout: 90, forms: [10-K, 8-K, 10-K]']) {
    const run = only(await scene.sync(search(`for_each: [{ ${input} }]`, ...window), { failOnTruncated: true }));
    expect(run).toMatchObject({ exitCode: 4, sent: 0, truncated: 0, earlierTruncated: 1 });
    expect(await boundsIn(scene)).toEqual(bound);
  }
});

it('a lower bound of an input remains if only a query says which inputs the sync has', async () => {
  const scene = await sceneOf('many');

  await scene.sync(posts('for_each: { user: [many] }', 'request: { count: 5 }'));
  await scene.sync(posts(`for_each: { user: { query: "select 'few'" } }`, 'request: { count: 5 }'));
  expect(await boundsIn(scene)).toEqual([{ user: 'many' }]);
});

it('a lower bound of a remainder ends when the sync splits it by more forms, and remains if it does not', async () => {
  const forms = ['10-K', '10-K', '8-K', '8-K', '8-K', '10-Q', '10-Q', '10-Q'];
  let isDenied = false;
  const scene = await sceneIn(await open(), {
    respond: ({ body }) => {
      if (isDenied) return { status: 412, body: { detail: 'no such entity' } };
      const { count, forms: wanted = [] } = body as { count: number; forms?: readonly string[] };
      const named = wanted.filter((form) => !form.startsWith('-'));
      const items = forms.flatMap((form, at) =>
        wanted.includes(`-${form}`) || (named.length > 0 && !named.includes(form))
          ? []
          : [{ accession_number: `0000000001-26-00000${at}`, file_name: 'a.htm', filing_type: form }],
      );
      return { body: items.slice(0, count) };
    },
  });
  const splitBy = (of: string, ...more: string[]): string =>
    search('request: { count: 5, entity_name: Acme }', `split_by: { forms: [${of}] }`, 'max_age: 30d', ...more);
  const remainder = [{ forms: ['-10-K'], entity_name: 'Acme' }];

  await scene.sync(splitBy('10-K'));
  expect(await boundsIn(scene)).toEqual(remainder);
  await scene.sync(splitBy('10-K', 'accept: { rejects: 100% }'));
  expect(await boundsIn(scene)).toEqual(remainder);
  // Nothing of the parts is read if the service denies the company, or if the run requests a part of the sync only.
  isDenied = true;
  await scene.sync(splitBy('10-K, 8-K'), { refresh: true });
  expect(await boundsIn(scene)).toEqual(remainder);
  isDenied = false;
  await scene.sync(splitBy('10-K, 8-K'), { limit: 0 });
  expect(await boundsIn(scene)).toEqual(remainder);
  await scene.sync(splitBy('10-K, 8-K'), { refresh: true });
  expect(await boundsIn(scene)).toEqual([]);
  isDenied = true;
  await scene.sync(splitBy('10-K, 8-K'), { refresh: true });
  expect(await boundsIn(scene)).toEqual([]);
  isDenied = false;
  await scene.sync(splitBy('10-K'));
  expect(await boundsIn(scene)).toEqual(remainder);
});
