/** The suites that every endpoint of the catalog inherits, on both kinds of warehouse. */
import { describe } from 'vitest';
import { IS_LONG } from '../support/long.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { fixtureOf } from './fixture.ts';
import { changesSuite } from './suites/changes.ts';
import { columnsSuite } from './suites/columns.ts';
import { listsSuite } from './suites/lists.ts';
import { orderSuite } from './suites/order.ts';
import { requiredSuite } from './suites/required.ts';

eachWarehouse('every endpoint', (open, kind) => {
  const fixture = fixtureOf(open);
  const isFull = kind === 'postgres' || IS_LONG;
  describe('columns', () => columnsSuite(fixture));
  // The normalizer finds these faults, so the kinds cannot differ.
  if (isFull) describe('required fields', () => requiredSuite(fixture));
  describe('lists', () => listsSuite(fixture, isFull));
  describe('changes', () => changesSuite(fixture, isFull));
  // The statements are those of the other suites; which of them are sent is decided without the database.
  if (isFull) describe('order', () => orderSuite(fixture));
});
