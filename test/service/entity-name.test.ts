/** Spellings of names: which are one name, and which only look alike. */
import { describe, expect, it } from 'vitest';
import { catalog } from '../../src/service/catalog.ts';
import { normalizedName, requestedName, type NameKind, shownName } from '../../src/service/names/entity-name.ts';
import { namesShown } from '../../src/service/resource.ts';
import { pronetGroup } from '../../src/service/resources/pronet-group.ts';
import { rootTables } from '../../src/warehouse/schema/tables.ts';

const USER: readonly NameKind[] = ['id', 'alias', 'url'];
const GROUP: readonly NameKind[] = ['id', 'url', 'urn'];
const may = (kinds: readonly NameKind[], text: string): string[] =>
  requestedName(kinds, text).candidates.map(({ kind, name }) => `${kind} ${name}`);

describe('a name in a request', () => {
  it.each([
    ['alice', ['alias alice', 'id alice']],
    [' alice ', ['alias alice', 'id alice']],
    ['@alice', ['alias alice']],
    ['Alice', ['alias Alice', 'id Alice']],
    ['alice.b', ['alias alice.b', 'id alice.b']],
    ['0042', ['alias 0042', 'id 0042']],
    ['https://photos.example/alice', ['url photos.example/alice']],
    ['HTTPS://PHOTOS.example:443/x/../alice?#', ['url photos.example/alice']],
    ['photos.example/alice', ['url photos.example/alice']],
    // A service may distinguish these.
    ['http://photos.example:80/alice', ['url http://photos.example/alice']],
    ['https://photos.example/alice/', ['url photos.example/alice/']],
    ['https://photos.example//alice', ['url photos.example//alice']],
    ['https://photos.example/alice#posts', ['url photos.example/alice#posts']],
    ['www.photos.example/Alice', ['url www.photos.example/Alice']],
    ['https://photos.example/alice?hl=en', ['url photos.example/alice?hl=en']],
    ['https://photos.example/alice?utm_source=a&fbclid=b', ['url photos.example/alice']],
    ['https://photos.example/alice?utm_source=a&id=7', ['url photos.example/alice?utm_source=a&id=7']],
    ['https://photos.example/#!/alice', ['url photos.example/#!/alice']],
    ['https://photos.example:8443/alice', ['url photos.example:8443/alice']],
    ['https://photos.example/ä', ['url photos.example/%C3%A4']],
  ])('%s may be %j', (text, names) => {
    expect(may(USER, text)).toEqual(names);
  });

  it.each([
    ['urn:li:group:1001', ['urn group:1001']],
    ['group:1001', ['urn group:1001']],
    ['1001', ['id 1001']],
    ['https://pronet.example/groups/1001', ['url pronet.example/groups/1001']],
  ])('of a group, %s may be %j', (text, names) => {
    expect(may(GROUP, text)).toEqual(names);
  });

  it.each([
    '',
    '  ',
    '@',
    'https://photos.example',
    'https://photos.example/',
    'https://',
    'http://[/x',
    'x'.repeat(641),
    'https://me:secret@photos.example/alice',
  ])('%j names no entity', (text) => {
    expect(requestedName(USER, text).candidates).toEqual([]);
  });

  it('of an unknown kind is none of the others', () => {
    expect(may(['alias', 'url'], '42')).toEqual(['alias 42']);
    expect(may(['id', 'alias'], 'photos.example/alice')).toEqual([
      'alias photos.example/alice',
      'id photos.example/alice',
    ]);
  });

  it('keeps what was written, where it is spelled otherwise', () => {
    expect(requestedName(USER, '@alice')).toMatchObject({
      fallback: { kind: 'alias', name: 'alice' },
      written: '@alice',
    });
    expect(requestedName(USER, 'alice')).toMatchObject({
      fallback: { kind: 'alias', name: 'alice' },
      written: undefined,
    });
    expect(requestedName(USER, 'https://photos.example/alice?x=1')).toMatchObject({
      fallback: { kind: 'url', name: 'photos.example/alice?x=1' },
      written: 'https://photos.example/alice?x=1',
    });
  });

  it('of megabytes costs nothing', () => {
    const long = `https://photos.example/${'a/'.repeat(2_500_000)}`;
    expect(requestedName(USER, long)).toEqual({ candidates: [], fallback: undefined, written: undefined });
    expect(shownName('url', long)).toBeUndefined();
    expect(shownName('alias', 'é'.repeat(2_500_000))).toBeUndefined();
  });
});

describe('a name in an answer', () => {
  it('is spelled as one in a request', () => {
    expect(shownName('url', 'https://photos.example/alice')).toEqual({ kind: 'url', name: 'photos.example/alice' });
    expect(shownName('alias', '@alice')).toEqual({ kind: 'alias', name: 'alice' });
    // A query that distinguishes pages is a part of the name.
    expect(shownName('url', 'https://photos.example/profile?id=5')?.name).toBe('photos.example/profile?id=5');
    expect(may(USER, 'https://photos.example/profile?id=7')).not.toContain('url photos.example/profile?id=5');
  });

  it('is left out when no table can hold it', () => {
    for (const text of ['', 'a\0b', '\ud800', 'x'.repeat(641), 'ä'.repeat(321)])
      expect([text, shownName('alias', text)]).toEqual([text, undefined]);
    expect(shownName('urn', 'no urn')).toBeUndefined();
    expect(shownName('url', 'not an address')).toBeUndefined();
  });

  it('is what the resource declares, and only where it is text', () => {
    const valuesOf = (row: Readonly<Record<string, unknown>>) => (column: string) => row[column];
    const cells = { urn_type: 'group', urn_value: '1001', url: 'https://pronet.example/groups/1001' };
    expect(namesShown(pronetGroup, valuesOf(cells))).toEqual([
      { kind: 'urn', name: 'group:1001' },
      { kind: 'id', name: '1001' },
      { kind: 'url', name: 'pronet.example/groups/1001' },
    ]);
    expect(namesShown(pronetGroup, valuesOf({ urn_type: null, urn_value: '1001', url: null }))).toEqual([
      { kind: 'id', name: '1001' },
    ]);
  });
});

it('a name looks like another name with the same handle', () => {
  const alike = ['alice', '@Alice', 'https://www.photos.example/alice/?hl=en', 'photos.example/alice'];
  expect(new Set(alike.map(normalizedName))).toEqual(new Set(['alice']));
  const groups = ['urn:li:group:1001', 'group:1001', '1001', 'https://pronet.example/groups/1001/'];
  expect(new Set(groups.map(normalizedName))).toEqual(new Set(['1001']));
});

describe('the catalog', () => {
  const namings = catalog.flatMap(({ naming, request }) => (naming ? [{ naming, request }] : []));

  it('requests by existing fields, for resources that declare names of these kinds', () => {
    expect(namings.length).toBeGreaterThan(3);
    for (const { naming, request } of namings) {
      const resource = naming.resource();
      expect(Object.keys(request.shape)).toContain(naming.field);
      expect(Object.values(resource.names ?? {})).toEqual(expect.arrayContaining([...naming.kinds]));
      const columns = rootTables.find(({ name }) => name === resource.table)?.columns.map(({ name }) => name) ?? [];
      const declared = Object.entries(resource.names ?? {}).flatMap(([field, kind]) =>
        kind === 'urn' ? [`${field}_type`, `${field}_value`] : [field],
      );
      expect(columns).toEqual(expect.arrayContaining(declared));
    }
  });

  it('declares names only for resources that an endpoint requests by name', () => {
    const asked = new Set(namings.map(({ naming }) => naming.resource().name));
    const named = rootTables.flatMap(({ resource }) => (resource.names ? [resource.name] : []));
    expect(new Set(named)).toEqual(asked);
  });

  it('has no request field of the name that is kept for ages', () => {
    expect(catalog.filter(({ request }) => 'max_age' in request.shape)).toEqual([]);
  });
});
