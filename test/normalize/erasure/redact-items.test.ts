/** Items of other entities keep their keys, whatever ids of other tables were forgotten. */
import { expect, it } from 'vitest';
import { redactExtra } from '../../../src/normalize/erasure/redact-extra.ts';
import { redactItems } from '../../../src/normalize/erasure/redact-items.ts';
import { endpointNamed } from '../../../src/service/catalog.ts';
import type { Forgotten } from '../../../src/service/names/forgotten.ts';

const forgottenIn = (table: string, key: readonly string[], id: string): Forgotten => ({
  isKey: (of, parts) => of === table && parts.join() === key.join(),
  isName: (of, text) => of === table && text === id,
  isTrace: (text) => text === id,
  scrub: (text) => text.replaceAll(id, 'gone'),
  pseudonymFor: () => 'gone',
});

function redacted(endpointName: string, item: object, forgotten: Forgotten): unknown {
  const endpoint = endpointNamed(endpointName);
  if (!endpoint) throw new Error(`no endpoint ${endpointName}`);
  const [after] = redactItems(endpoint, { sync: 's', requestKey: 'k', request: {} }, [item], { forgotten });
  return after;
}

const ID = '1234567';
const urn = (type: string, value = ID) => ({ type, value });

it.each([
  ['pronet.group', { urn: urn('group'), url: `g/${ID}` }, { urn: urn('group'), url: 'g/gone' }],
  ['pronet.group', { urn: urn('group', 'g'), members: [{ user: { urn: urn('fsd_profile') }, role: ID }] }, undefined],
  ['sec.search.companies', { accession_number: ID, file_name: ID, document_url: ID }, undefined],
  ['microblog.user', { rest_id: ID, location: ID }, undefined],
  ['photoshare.user.posts', { id: ID, user: { id: '42' }, text: ID }, undefined],
  ['pronet.post.reposts', { urn: urn('activity'), author: { urn: urn('fsd_company'), headline: ID } }, undefined],
  ['pronet.post.reposts', { urn: urn('activity', 'p'), mentioned: [{ urn: urn('school') }], text: ID }, undefined],
])(
  '%s: an entity with the same digits as a forgotten photo profile keeps its key, of %j',
  (endpoint, item, expected) => {
    const after = redacted(endpoint, item, forgottenIn('photoshare_users', [ID], ID));
    const texts = /"(url|document_url|location|text|headline|role)":"1234567"/g;
    expect(after).toEqual(expected ?? JSON.parse(JSON.stringify(item).replaceAll(texts, '"$1":"gone"')));
  },
);

it('a key that is a name of the forgotten entity in its own table does not stay', () => {
  const forgotten = forgottenIn('pronet_users', ['fsd_profile', 'ACoAA1'], 'ACoAA1');
  const post = { urn: urn('activity', 'p'), author: { urn: urn('fs_mini', 'ACoAA1'), name: 'Ann' } };
  expect(JSON.stringify(redacted('pronet.post.reposts', post, forgotten))).not.toContain('ACoAA1');
});

it('fields without a column lose what the object that they come from loses', () => {
  const forgotten = {
    ...forgottenIn('photoshare_users', ['9'], 'bo_k'),
    isTrace: () => false,
    scrub: (it: string) => it,
  };
  const about = { username: 'bo_k', partner: { alias: 'bo_k', mood: 'zq' }, seen_by: ['bo_k', 'mia_1'], bo_k: 'zq' };
  const posts = endpointNamed('photoshare.user.posts')?.returns ?? expect.fail('there is no such endpoint');
  const after = redacted('photoshare.user.posts', { id: '1', ...about, user: { id: '42', ...about } }, forgotten);
  const left = redactExtra(
    { ...about, user: about },
    { forgotten, resource: posts, fields: posts.fields, isEntity: true },
  );
  expect({ ...left, id: '1', user: { id: '42', ...(left['user'] as object) } }).toEqual(after);
  expect(left).toMatchObject({ username: 'bo_k', seen_by: ['gone', 'mia_1'], gone: 'zq' });
  expect(JSON.stringify(left)).not.toContain('mood');
});
