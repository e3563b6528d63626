/** What promote chooses and writes, without a database: places of fields, types, and the edited source. */
import { parseAst } from 'rolldown/parseAst';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Fields } from '../../src/service/model.ts';
import {
  type ChosenField,
  chooseField,
  chooseTable,
  chooseType,
  declaredField,
} from '../../src/flow/promote/choose-field.ts';
import { readDeclarations, type SourceModule } from '../../scripts/promote/declaration-source.ts';
import { editDeclaration } from '../../scripts/promote/edit-declaration.ts';
import { type FieldTable, fieldTables, placeInAnswer } from '../../src/flow/promote/field-place.ts';
import { suggestedType } from '../../src/flow/promote/field-type.ts';
import type { UnknownField } from '../../src/flow/promote/unknown-fields.ts';
import { fileURLToPath } from 'node:url';

const placed = (resource: string, path: string): string | undefined => {
  const place = placeInAnswer(resource, path.split('.'));
  return place && `${place.at.table.name} ${place.path.join('.')}`;
};

const unknown = (at: FieldTable, field: string): UnknownField => {
  const path = field.split('.');
  return { at, path, field, column: path.join('_'), answers: 9, sampleType: 'number', lastSeenAt: new Date(0) };
};

describe('an unknown field', () => {
  it.each([
    ['PronetSearchUser', 'follower_count', 'pronet_users follower_count'],
    ['PronetUserEducation', 'company.size', 'pronet_user_educations company.size'],
    ['PronetUserEducation', 'company.industry_full.rank', 'pronet_user_educations company.industry_full.rank'],
    ['PronetGroup', 'members.badge', 'pronet_group_members badge'],
    ['PronetGroup', 'members.user.badge', 'pronet_group_members user.badge'],
    ['PronetPost', 'repost.repost.tone', 'pronet_posts tone'],
    ['PronetPost', 'repost.author.tone', 'pronet_posts author.tone'],
    ['PhotoshareUser', 'posts.filter', 'photoshare_posts filter'],
    ['PronetSearchUser', 'headline', undefined],
    ['PronetSearchUser', 'a.b', undefined],
    ['PronetSearchUser', '*', 'pronet_users *'],
    ['Nothing', 'a', undefined],
  ])('of %s at %s is in %s', (resource, path, expected) => {
    expect(placed(resource, path)).toBe(expected);
  });

  it.each([
    [[1, 2], 'bigint'],
    [[1, 2.5], 'double precision'],
    [[true], 'boolean'],
    [['2026-01-02T03:04:05Z'], 'timestamptz'],
    [['2026-01-02'], 'date'],
    [['5'], 'text'],
    [['a', 1], 'jsonb'],
    [[JSON.rawJSON('12345678901234567890')], 'jsonb'],
    [[0.5, JSON.rawJSON('0.1234567890123456789')], 'jsonb'],
    [[{ a: 1 }], 'jsonb'],
    [[], 'bigint'],
  ])('with the values %j is proposed as %s', (values, expected) => {
    expect(suggestedType(values, 'number').sql).toBe(expected);
  });
});

describe('a request to promote', () => {
  const users = chooseTable('pronet_users');
  const choose = (table: string, field: string, type = 'bigint', personal?: string): ChosenField => {
    const at = chooseTable(table);
    const fields = [
      unknown(at, 'follower_count'),
      unknown(at, 'Name'),
      unknown(at, 'urn.type_x'),
      unknown(at, 'urn_value'),
      unknown(at, 'constructor'),
      unknown(at, 'valid_from'),
      unknown(at, 'cleaned_html_sha256'),
    ];
    return chooseField(at, { table, field, type, personal }, chooseType(type), fields);
  };

  it.each([
    [
      'another table',
      () => chooseTable('pronet_user'),
      /no table .* "pronet_user"; did you mean "pronet_users"\? allowed: /,
    ],
    ['a table without unknown fields', () => chooseTable('sec_filing_ciks'), /no table with unknown fields/],
    [
      'another type',
      () => chooseType('bigit'),
      /no type is named "bigit"; did you mean "bigint"\? allowed: text, bigint/,
    ],
    [
      'another field',
      () => choose('pronet_users', 'folower_count'),
      /"folower_count" for pronet_users; did you mean "follower_count"\?/,
    ],
    ['a name that is no column', () => choose('pronet_users', 'Name'), /cannot be a column: its name/],
    ['a name that every object has', () => choose('pronet_users', 'constructor'), /every JavaScript object has/],
    [
      'a column that only the history has',
      () => choose('pronet_users', 'valid_from'),
      /the view pronet_users_history has a column of its name/,
    ],
    [
      'a column that the history of pages has for a digest',
      () => choose('web_pages', 'cleaned_html_sha256'),
      /the view web_pages_history has a column of its name/,
    ],
    ['a column of another field', () => choose('pronet_users', 'urn_value'), /already has a column urn_value/],
    [
      'a choice that is none',
      () => choose('pronet_users', 'follower_count', 'text', 'yes'),
      /--personal "yes"; allowed: content/,
    ],
    [
      'free JSON',
      () => declaredField(chooseTable('web_pages'), 'metadata.author', chooseType('text')),
      /metadata is declared as free JSON/,
    ],
    [
      'a list',
      () => declaredField(chooseTable('pronet_groups'), 'members.badge', chooseType('text')),
      /declared as a list/,
    ],
    ['an object', () => declaredField(users, 'urn', chooseType('text')), /already declared, as an object/],
    [
      'another type than the declared one',
      () => declaredField(users, 'headline', chooseType('bigint')),
      /already declared, as text and not as bigint/,
    ],
  ])('is refused for %s', (_, work, message) => {
    expect(work).toThrow(message);
    expect(work).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it('knows a declared field by its names, and an epoch by both columns', () => {
    expect(declaredField(users, 'headline', chooseType('text'))).toMatchObject({ columns: ['headline'] });
    expect(declaredField(chooseTable('photoshare_posts'), 'created_at', chooseType('epoch'))).toMatchObject({
      columns: ['created_at', 'created_at_epoch'],
    });
    expect(declaredField(users, 'follower_count', chooseType('text'))).toBeUndefined();
  });

  it('makes fields about people personal unless it says otherwise', () => {
    expect(choose('pronet_users', 'follower_count').personal).toBe('content');
    expect(choose('pronet_users', 'follower_count', 'bigint', 'none').personal).toBeUndefined();
    expect(choose('pronet_users', 'follower_count', 'bigint', 'identifier').personal).toBe('identifier');
    expect(choose('pronet_groups', 'follower_count').personal).toBeUndefined();
    const posts = chooseTable('photoshare_users');
    const inside = unknown(posts, 'location.floor');
    const request = { table: 'photoshare_users', field: 'location.floor', type: 'text', personal: 'none' };
    expect(() => chooseField(posts, request, chooseType('text'), [inside])).toThrow(/declared as personal data/);
  });
});

describe('the edited source', () => {
  let modules: ReadonlyMap<string, SourceModule>;
  beforeAll(async () => {
    modules = await readDeclarations(fileURLToPath(new URL('../../', import.meta.url)));
  });
  const edited = (table: string, field: string, type: string, personal?: 'content'): string[] => {
    const chosen = { unknown: unknown(chooseTable(table), field), type: chooseType(type), personal };
    const { before, after, path } = editDeclaration(modules, chosen, 'It’s new.');
    expect(() => parseAst(after, { lang: 'ts' }, path)).not.toThrow();
    const known = new Set(before.split('\n'));
    return after
      .split('\n')
      .filter((line) => !known.has(line))
      .map((line) => line.trim());
  };

  it('has the field at the end of its object, and imports its constructors', () => {
    expect(edited('pronet_users', 'follower_count', 'bigint', 'content')).toEqual([
      "import { fallback, boolean, object, required, text, urn, volatile, identifier, personal, integer } from '../field.ts';",
      "follower_count: personal(integer('It’s new.')),",
    ]);
    expect(edited('pronet_posts', 'author.age', 'number')).toEqual(['number,', "age: number('It’s new.'),"]);
    expect(edited('pronet_group_members', 'user.badge', 'text')).toEqual(["badge: text('It’s new.'),"]);
    expect(edited('pronet_group_members', 'badge', 'text')).toEqual(["badge: text('It’s new.'),"]);
  });

  it('keeps fields that other objects share as they are', () => {
    expect(edited('pronet_user_educations', 'company.size', 'text')).toEqual([
      "object('The school.', { ...educationCompanyFields, size: text('It’s new.') }, { tag: pronetCompany.tag, observation: companySeen('full') }),",
    ]);
  });

  it('is found for every table and every object, except for URNs', () => {
    const objectsIn = (fields: Fields, outer: readonly string[]): string[][] => [
      [...outer],
      ...Object.entries(fields).flatMap(([name, field]) =>
        field.shape === 'object' ? objectsIn(field.fields, [...outer, name]) : [],
      ),
    ];
    const places = fieldTables.flatMap((at) =>
      objectsIn(at.fields, []).map((path) => ({ table: at.table.name, path })),
    );
    const isAdded = ({ table, path }: (typeof places)[number]): boolean => {
      try {
        return edited(table, [...path, 'brand_new'].join('.'), 'uuid')
          .join()
          .includes("brand_new: uuid('");
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringContaining('can be extended') });
        return false;
      }
    };
    const refused = places.filter((place) => !isAdded(place)).map(({ path }) => path.at(-1) ?? '');
    expect([...new Set(refused)].toSorted()).toEqual(['geo', 'industry', 'internal_id', 'share_urn', 'urn']);
    expect(places.length - refused.length).toBeGreaterThan(20);
  });
});
