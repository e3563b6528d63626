/** The filings search: filters that work, caps that hold, windows that are exact, at any size. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ask, startSandbox, TODAY } from './client.ts';
import type { Filing, Item } from './items.ts';
import type { Sandbox } from '../../src/sandbox/serve.ts';

const ENDPOINT = 'sec.search.companies';
const search = async (sandbox: Sandbox, body: Item): Promise<readonly Filing[]> => {
  const reply = await ask<Filing>(sandbox, ENDPOINT, { count: 100, ...body });
  expect(reply.status).toBe(200);
  return reply.items;
};
/** Everything, by asking the world behind the cap. */
const all = (sandbox: Sandbox, body: Item): Filing[] =>
  sandbox.world.filings.search({ count: 1_000_000, entity_name: '', ...body }).items as unknown as Filing[];
const keyOf = (item: Filing): string => `${item.accession_number}/${item.file_name}`;

describe('filings', () => {
  it('have several documents of different names to an accession, and names that many accessions share', async () => {
    const sandbox = await startSandbox();
    const items = all(sandbox, { date_from: '2024-01-01', date_to: '2024-03-31' });
    const keys = items.map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
    const documents = Map.groupBy(items, (item) => item.accession_number);
    expect(Math.max(...[...documents.values()].map((list) => list.length))).toBeGreaterThanOrEqual(4);
    for (const list of documents.values()) expect(new Set(list.map((item) => item.file_date)).size).toBe(1);
    const files = Map.groupBy(items, (item) => item.file_name);
    expect(files.get('primary_doc.xml')?.length).toBeGreaterThan(100);
  });

  it('have unparallel lists, empty places, items and codes as text', async () => {
    const sandbox = await startSandbox();
    const items = all(sandbox, { date_from: '2025-01-01' });
    const owned = items.find((item) => item.filing_type === '4') as Filing;
    expect(owned.ciks).toHaveLength(2);
    expect(owned.display_names[1]).toContain(owned.ciks[1]);
    expect(owned.biz_locations[0]).toBe('');
    expect(owned.biz_states).toHaveLength(1);
    expect(items.every((item) => item.ciks.every((cik) => /^\d{10}$/.test(cik)))).toBe(true);
    expect(items.some((item) => item.sics?.some((sic) => sic.startsWith('0')) === true)).toBe(true);
    expect(items.some((item) => item.items?.includes('2.02') === true)).toBe(true);
    expect(new Set(items.map((item) => item.items === null)).size).toBe(2);
    expect(items.some((item) => item.period_ending === null)).toBe(true);
    expect(items.some((item) => item.inc_states?.length === 0)).toBe(true);
    expect(new Set(items.map((item) => item.filing_type)).size).toBeGreaterThan(15);
  });

  it('are found by ticker or part of a name in any letter case, and all without a name', async () => {
    const sandbox = await startSandbox();
    const named = async (name: string) =>
      new Set((await search(sandbox, { entity_name: name })).map((item) => item.display_names.at(-1)?.split('  ')[0]));
    expect(await named('AAPL')).toEqual(new Set(['Apple Inc.']));
    expect(await named('aapl')).toEqual(new Set(['Apple Inc.']));
    expect(await named('microsoft')).toEqual(new Set(['Microsoft Corp']));
    expect((await named('holdings')).size).toBeGreaterThan(2);
    expect((await named('')).size).toBeGreaterThan(30);
    expect(await named('no company is called so')).toEqual(new Set());
  });

  it('are found by forms, where a form also means its amendments, and excluded by a minus', async () => {
    const sandbox = await startSandbox();
    const window = { date_from: '2023-01-01', date_to: '2023-12-31' };
    const types = (forms: readonly string[]) =>
      new Set(all(sandbox, { ...window, forms }).map((item) => item.filing_type));
    expect(types(['4'])).toEqual(new Set(['4', '4/A']));
    expect(types(['10-K', '10-Q', '-10-K/A'])).toEqual(new Set(['10-K', '10-Q', '10-Q/A']));
    const rest = types(['-10-K', '-4']);
    expect(rest.has('8-K')).toBe(true);
    expect(['10-K', '10-K/A', '4', '4/A'].filter((type) => rest.has(type))).toEqual([]);
    expect(types(['10-k/a'])).toEqual(new Set(['10-K/A']));
    expect(types(['no form'])).toEqual(new Set());
    expect(types([])).toEqual(types(['-no form']));
  });

  it('are split by forms into parts that together are complete', async () => {
    const sandbox = await startSandbox();
    const window = { date_from: '2024-05-01', date_to: '2024-05-31' };
    const parts = [['10-K'], ['10-Q'], ['8-K'], ['-10-K', '-10-Q', '-8-K']].map((forms) =>
      all(sandbox, { ...window, forms }),
    );
    const whole = all(sandbox, window);
    expect(parts.flat().map(keyOf).toSorted()).toEqual(whole.map(keyOf).toSorted());
  });

  it('are found by states of business', async () => {
    const sandbox = await startSandbox();
    const items = all(sandbox, { location_codes: ['CA', 'ny'], date_from: '2024-01-01' });
    expect(new Set(items.flatMap((item) => item.biz_states))).toEqual(new Set(['CA', 'NY']));
    const apart = ['CA', 'NY'].flatMap((code) => all(sandbox, { location_codes: [code], date_from: '2024-01-01' }));
    expect(apart).toHaveLength(items.length);
  });

  it('are found by days, both ends included, and parts of a window make the window', async () => {
    const sandbox = await startSandbox();
    const whole = all(sandbox, { date_from: '2024-02-01', date_to: '2024-02-29' });
    expect(whole.length).toBeGreaterThan(300);
    const parts = [
      all(sandbox, { date_from: '2024-02-16', date_to: '2024-02-29' }),
      all(sandbox, { date_from: '2024-02-01', date_to: '2024-02-15' }),
    ];
    expect(parts.flat().map(keyOf)).toEqual(whole.map(keyOf));
    const days = whole.map((item) => item.file_date);
    expect(days).toEqual(days.toSorted().toReversed());
    expect([days.at(-1), days[0]]).toEqual(['2024-02-01', '2024-02-29']);
    expect(all(sandbox, { date_from: '2024-02-10', date_to: '2024-02-11' })).toEqual([]);
    expect(all(sandbox, { date_from: '2024-02-02', date_to: '2024-02-01' })).toEqual([]);
  });

  it('are the same for a company whether it is requested or found among all', async () => {
    const sandbox = await startSandbox();
    const window = { date_from: '2022-01-01', date_to: '2022-12-31' };
    const everything = all(sandbox, window).filter((item) => item.ciks.includes('0000320193'));
    expect(everything.length).toBeGreaterThan(20);
    expect(all(sandbox, { ...window, entity_name: 'AAPL' })).toEqual(everything);
  });

  it('begin in 2001 and end today, and the past stays as it is when days go by', async () => {
    const [before, after] = [await startSandbox(), await startSandbox({ now: () => new Date('2026-04-15T00:00:00Z') })];
    expect(all(before, { date_to: '2000-12-31' })).toEqual([]);
    expect(all(before, { date_to: '2001-01-31' }).length).toBeGreaterThan(0);
    expect(all(before, {})[0]?.file_date).toBe(TODAY.toISOString().slice(0, 10));
    const past = { date_from: '2026-01-01', date_to: '2026-03-02' };
    expect(all(after, past)).toEqual(all(before, past));
    expect(all(after, { date_from: '2026-03-03' }).length).toBeGreaterThan(0);
    expect(all(before, { date_from: '2026-03-03' })).toEqual([]);
  });

  it('are never more than requested', async () => {
    const sandbox = await startSandbox();
    for (const count of [1, 7, 100]) expect(await search(sandbox, { count, forms: ['10-K'] })).toHaveLength(count);
  });

  it('fill an answer on a single day when offices are flooded', async () => {
    const sandbox = await startSandbox();
    const day = { date_from: '2024-05-15', date_to: '2024-05-15' };
    expect(await search(sandbox, day)).toHaveLength(100);
    expect(all(sandbox, day).length).toBeGreaterThan(100);
  });
});

describe('a million filings', () => {
  it('are there, and days among them hold more than an answer does', async () => {
    const sandbox = await startSandbox({ size: 'large' });
    const { filings } = sandbox.world;
    expect(filings.made()).toBeGreaterThan(950_000);
    expect(all(sandbox, { date_from: '2024-03-05', date_to: '2024-03-05' }).length).toBeGreaterThan(200);
  });

  it('are searched without looking at more than what can match', async () => {
    const sandbox = await startSandbox({ size: 'large' });
    const looked = (body: Item): number =>
      sandbox.world.filings.search({ count: 100, entity_name: '', ...body }).looked;
    expect(looked({ entity_name: 'AAPL' })).toBeLessThan(110);
    expect(looked({ entity_name: 'AAPL', forms: ['10-K'] })).toBeLessThan(2_000);
    expect(
      looked({ entity_name: 'AAPL', date_from: '2024-01-01', date_to: '2024-03-31', count: 1_000_000 }),
    ).toBeLessThan(50);
    expect(looked({ date_from: '2024-03-05', date_to: '2024-03-05' })).toBeLessThanOrEqual(100);
    expect(looked({ forms: ['no form'] })).toBe(0);
    expect(looked({ forms: ['20-F'], location_codes: ['AK'] })).toBeLessThan(25_000);
  });

  it('take no memory', async () => {
    const sandbox = await startSandbox({ size: 'large' });
    const { world } = sandbox;
    const step = 997;
    const touch = (from: number): number => {
      let seen = 0;
      for (let day = from; day < from + 300 * step; day += step) {
        const date = new Date(Date.UTC(2002, 0, 1) + (day % 8_000) * 86_400_000).toISOString().slice(0, 10);
        seen += world.filings.search({ count: 100, entity_name: '', date_from: date, date_to: date }).items.length;
        seen += world.searchPeople({ ...ANYBODY, count: 50, title: 'engineer' }).indexes.length;
      }
      return seen;
    };
    touch(1);
    const before = heapUsed();
    expect(touch(2)).toBeGreaterThan(10_000);
    expect(heapUsed() - before).toBeLessThan(2_000_000);
  });
});

const ANYBODY = { keywords: '', first_name: '', last_name: '', title: '', company_keywords: '', school_keywords: '' };

/** Bytes on the heap once nothing can be freed any more. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
