/** The fields that identify entities in every object, as the resources declare them. */
import { expect, it } from 'vitest';
import {
  IDENTIFYING_FIELDS,
  NAME_FIELDS,
  PERMANENT_FIELDS,
  TEXT_FIELDS,
} from '../../../src/normalize/erasure/identifying-fields.ts';
import { rootTables } from '../../../src/warehouse/schema/tables.ts';

it('an entity is found by ids, aliases and addresses, and by an id that never changes hands also beside another key', () => {
  expect([...NAME_FIELDS].toSorted()).toEqual(['alias', 'id', 'internal_id', 'rest_id', 'url']);
  expect(PERMANENT_FIELDS).toEqual(['internal_id']);
});

it('a display name, a phone number and the code of a post identify an entity in texts only', () => {
  expect([...TEXT_FIELDS].toSorted()).toEqual(['code', 'email', 'name', 'phone', 'share_url', 'whatsapp_number']);
});

it('the requested address of a page identifies it, and is not a field of answers', () => {
  expect(IDENTIFYING_FIELDS).toContain('requested_url');
  expect(NAME_FIELDS).not.toContain('requested_url');
});

it('every resource with an alias, an address or an internal identifier declares that it identifies its entity', () => {
  const undeclared = rootTables.flatMap(({ resource: { name, fields, identifiedBy = {} } }) =>
    ['alias', 'url', 'internal_id']
      .filter((field) => Object.hasOwn(fields, field) && !Object.hasOwn(identifiedBy, field))
      .map((field) => `${name}.${field}`),
  );
  expect(undeclared).toEqual([]);
});
