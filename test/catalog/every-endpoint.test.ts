/** The suites that every endpoint of the catalog inherits, on both kinds of warehouse. */
import { describe } from 'vitest';
import { eachWarehouse } from '../support/warehouse.ts';
import { groundOf } from './ground.ts';
import { changesSuite } from './suites/changes.ts';
import { columnsSuite } from './suites/columns.ts';
import { listsSuite } from './suites/lists.ts';
import { orderSuite } from './suites/order.ts';
import { requiredSuite } from './suites/required.ts';

eachWarehouse('every endpoint', (open) => {
  const ground = groundOf(open);
  describe('columns', () => columnsSuite(ground));
  describe('required fields', () => requiredSuite(ground));
  describe('lists', () => listsSuite(ground));
  describe('changes', () => changesSuite(ground));
  describe('order', () => orderSuite(ground));
});
