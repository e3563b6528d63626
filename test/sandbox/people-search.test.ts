/** The people search: every filter narrows, URNs and names mean the same, and a keyword without filters yields little. */
import { describe, expect, it } from 'vitest';
import { TOP_LEVEL_INDUSTRIES } from '../../src/service/request.ts';
import { ask, startSandbox } from './client.ts';
import type { Item, Person } from './items.ts';

const ENDPOINT = 'pronet.search.users';

async function searcher(options: Parameters<typeof startSandbox>[0] = {}) {
  const sandbox = await startSandbox(options);
  const search = async (body: Item): Promise<readonly Person[]> => {
    const reply = await ask<Person>(sandbox, ENDPOINT, { count: 1000, ...body });
    expect(reply.status).toBe(200);
    return reply.items;
  };
  return { sandbox, search };
}
const urns = (items: readonly Person[]): string[] => items.map(({ urn }) => urn.value);

describe('a search for people', () => {
  it('finds plenty of data engineers in Berlin and Paris at demo size', async () => {
    const { search } = await searcher();
    for (const city of ['Berlin', 'Paris']) {
      const items = await search({ title: 'data engineer', location: [city] });
      expect(items.length).toBeGreaterThan(30);
      for (const { headline, location } of items) {
        expect([null, true]).toContain(headline === null ? null : /data engineer/i.test(headline));
        expect([null, true]).toContain(location === null ? null : location.startsWith(city));
      }
    }
  });

  it('unites the values of a list and cuts by each filter', async () => {
    const { search } = await searcher();
    const [berlin, paris, both] = [
      await search({ location: ['Berlin'], title: 'recruiter' }),
      await search({ location: ['paris'], title: 'recruiter' }),
      await search({ location: ['Berlin', 'Paris'], title: 'recruiter' }),
    ];
    expect(urns(both).toSorted()).toEqual([...urns(berlin), ...urns(paris)].toSorted());
    expect((await search({ location: ['Berlin'] })).length).toBeGreaterThan(berlin.length);
  });

  it('takes places, companies, schools and industries by URN or by name', async () => {
    const { sandbox, search } = await searcher();
    const company = sandbox.world.companies.at(20);
    const school = sandbox.world.schools.at(0);
    const pairs: readonly [string, unknown, unknown][] = [
      ['location', { type: 'geo', value: '106967730' }, 'Berlin'],
      ['current_company', company.urn, company.name],
      ['past_company', company.urn, company.name.toUpperCase()],
      ['education', school.urn, school.name],
      ['industry', { type: 'industry', value: '11' }, 'Utilities'],
    ];
    for (const [field, urn, name] of pairs) {
      const [byUrn, byName] = [await search({ [field]: [urn] }), await search({ [field]: [name] })];
      expect(byUrn.length, field).toBeGreaterThan(0);
      expect(byName, field).toHaveLength(byUrn.length);
      expect(urns(byName), field).toEqual(urns(byUrn));
    }
    expect(await search({ location: ['Nowhere'] })).toEqual([]);
  });

  it('finds a person in each of the twelve top-level industries, and none in two', async () => {
    const { search } = await searcher({ size: 'demo' });
    const found = new Map<string, string>();
    for (const industry of TOP_LEVEL_INDUSTRIES) {
      const items = await search({ industry: [industry], location: ['Berlin'] });
      expect(items.length, industry).toBeGreaterThan(0);
      for (const urn of urns(items)) {
        expect(found.get(urn)).toBeUndefined();
        found.set(urn, industry);
      }
    }
    expect(found.size).toBe((await search({ location: ['Berlin'] })).length);
  });

  it('reads names exactly, and words of titles, companies and schools as words', async () => {
    const { search } = await searcher();
    const anna = await search({ first_name: 'anna' });
    expect(anna.length).toBeGreaterThan(0);
    expect(anna.every(({ name }) => name.startsWith('Anna '))).toBe(true);
    expect(await search({ first_name: 'Ann' })).toEqual([]);
    expect((await search({ last_name: 'Müller' })).every(({ name }) => name.endsWith(' Müller'))).toBe(true);
    expect(await search({ title: 'engin' })).toEqual([]);
    const apple = await search({ company_keywords: 'apple' });
    expect(apple.some(({ headline }) => headline?.endsWith(' at Apple Inc.') === true)).toBe(true);
    expect(apple.every(({ headline }) => headline === null || headline.endsWith(' at Apple Inc.'))).toBe(true);
    expect((await search({ school_keywords: 'business' })).length).toBeGreaterThan(100);
    expect(await search({ school_keywords: 'busi' })).toEqual([]);
  });

  it('yields few people for a keyword alone, and more with a filter', async () => {
    const { search } = await searcher();
    expect(await search({ keywords: 'engineer' })).toHaveLength(10);
    expect((await search({ keywords: 'engineer', location: ['London'] })).length).toBeGreaterThan(10);
    expect(await search({ keywords: 'xyzzy' })).toEqual([]);
    expect(await search({ keywords: '!!' })).toEqual([]);
  });

  it('never returns more than requested, and the same people first', async () => {
    const { search } = await searcher();
    const [few, many] = [await search({ count: 5, title: 'founder' }), await search({ count: 50, title: 'founder' })];
    expect(few).toHaveLength(5);
    expect(urns(many).slice(0, 5)).toEqual(urns(few));
    expect(new Set(urns(many)).size).toBe(50);
  });

  it('shows some people without a name and finds none of those by name', async () => {
    const { search } = await searcher();
    const items = await search({ location: ['London'] });
    const masked = items.filter(({ name }) => name === 'Network Member');
    expect(masked.length).toBeGreaterThan(3);
    expect(new Set(masked.map(({ alias }) => alias)).size).toBe(1);
    expect(new Set(urns(masked)).size).toBe(masked.length);
    expect(await search({ first_name: 'Network' })).toEqual([]);
  });

  it('passes over a hundred thousand people at most once', async () => {
    const { sandbox } = await searcher({ size: 'large' });
    const anybody = {
      keywords: '',
      first_name: '',
      last_name: '',
      title: '',
      company_keywords: '',
      school_keywords: '',
    };
    const { looked, indexes } = sandbox.world.searchPeople({ ...anybody, count: 1000, title: 'data engineer' });
    expect(indexes).toHaveLength(1000);
    expect(looked).toBeLessThan(12_000);
    expect(sandbox.world.searchPeople({ ...anybody, count: 1000, keywords: 'xyzzy' }).looked).toBe(100_000);
  });
});
