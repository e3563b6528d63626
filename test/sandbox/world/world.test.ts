/** The world and the chance behind it: even, repeatable, and one-to-one where entities are found by what was drawn. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distinct, drawing, happens, scramble, unscramble, weighted } from '../../../src/sandbox/world/draw.ts';
import { filingSlots } from '../../../src/sandbox/world/filing-slots.ts';
import { sizeOf } from '../../../src/sandbox/world/size.ts';
import type { Wire } from '../../../src/sandbox/wire.ts';
import { worldOf } from '../../../src/sandbox/world/world.ts';

describe('draws', () => {
  it('are scrambled one-to-one', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 0xffffffff }), (value) => unscramble(scramble(value)) === value));
  });

  it('are the same for the same seed, property, index and slot, and else differ', () => {
    const draw = drawing(5)('height');
    expect(drawing(5)('height')(3, 2)).toBe(draw(3, 2));
    expect(
      new Set([draw(3, 2), draw(3, 1), draw(2, 3), draw(4, 2), drawing(6)('height')(3, 2), drawing(5)('weight')(3, 2)])
        .size,
    ).toBe(6);
  });

  it('are even, whichever bits are looked at', () => {
    const draw = drawing(1)('evenness');
    for (const shift of [0, 8, 16, 28]) {
      const counts = Array.from({ length: 16 }, () => 0);
      for (let index = 0; index < 32_000; index++) {
        const bucket = (draw(index) >>> shift) % 16;
        counts[bucket] = (counts[bucket] ?? 0) + 1;
      }
      expect(Math.min(...counts)).toBeGreaterThan(1_800);
      expect(Math.max(...counts)).toBeLessThan(2_200);
    }
  });

  it('happen as often as they should and fall by weight', () => {
    const draw = drawing(1)('share');
    const many = Array.from({ length: 20_000 }, (_, index) => draw(index));
    expect(many.filter((drawn) => happens(drawn, 0.2)).length / 20_000).toBeCloseTo(0.2, 1);
    expect(many.some((drawn) => happens(drawn, 0))).toBe(false);
    expect(many.every((drawn) => happens(drawn, 1))).toBe(true);
    const at = weighted([1, 0, 3]);
    const counts = [0, 1, 2].map((wanted) => many.filter((drawn) => at(drawn) === wanted).length / 20_000);
    expect(counts[0]).toBeCloseTo(0.25, 1);
    expect(counts[1]).toBe(0);
  });

  it('give distinct numbers, all of them if as many are requested', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 30 }), fc.nat(), (many, below, index) => {
        const found = distinct(drawing(1)('distinct'), index, many, below);
        expect(new Set(found).size).toBe(Math.min(many, below));
        expect(found.every((number) => number >= 0 && number < below)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe('who filed what', () => {
  it('is the same from the filing and from the company', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 16, max: 200 }), fc.nat(3_000), (seed, companies, from) => {
        const slots = filingSlots(drawing(seed), companies, 16);
        const to = from + 700;
        const company = seed % companies;
        const own = [...slots.newestFirst([company], from, to)];
        const all = [...slots.newestFirst(undefined, from, to)];
        expect(all).toHaveLength(700);
        expect(own).toEqual(all.filter((filing) => slots.companyOf(filing) === company));
      }),
      { numRuns: 60 },
    );
  });
});

describe('entities', () => {
  const world = worldOf(11, sizeOf('small'), () => new Date('2026-01-01T00:00:00Z'));

  it('are found by what they are called', () => {
    const sign = String;
    for (let index = 0; index < 300; index++) {
      expect(world.people.byUrn(world.people.at(index).urn)).toBe(index);
      const microblog = world.microblog.item(index, sign);
      expect(world.microblog.find(String(microblog['url']))).toBe(index);
      const photoshare = world.photoshare.item(index, NO_SWITCHES, sign, 1);
      expect(world.photoshare.find(String(photoshare['id']))).toBe(index);
      expect(world.photoshare.find(String(photoshare['alias']))).toBe(index);
      const post = { index, nth: 1 };
      if (world.posts.repostCount({ index }) > 1) {
        expect(world.posts.find(world.posts.item(post, sign)['urn'] as { type: string; value: string })).toEqual(post);
      }
    }
  });

  it('are repeated by others than their authors', () => {
    const few = worldOf(11, sizeOf({ people: 200, companies: 40, posts: 200 }), () => new Date('2026-01-01T00:00:00Z'));
    const authors = Array.from({ length: 200 }, (_, index) => few.posts.reposts({ index }, 200, String)).flat();
    expect(authors.length).toBeGreaterThan(1_000);
    const own = authors.filter((post) => isDeepStrictEqual(authorOf(post), authorOf(post['repost'] as Wire)));
    expect(own).toEqual([]);
  });

  it('are called differently', () => {
    const { companies, people } = world;
    const names = new Set(Array.from({ length: companies.count }, (_, index) => companies.name(index)));
    expect(names.size).toBe(companies.count);
    expect(new Set(Array.from({ length: people.count }, (_, index) => people.at(index).urn.value)).size).toBe(
      people.count,
    );
  });
});

const authorOf = (post: Wire): unknown => (post['author'] as Wire)['urn'];

const NO_SWITCHES = { with_creation_date: false, with_similar_users: false, with_posts: false };
