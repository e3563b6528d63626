/** What a load makes of answers, on both kinds of warehouse. */
import { beforeAll, describe } from 'vitest';
import { type Loader, loaderOf } from '../support/loading.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { answersSuite } from './suites/answers.ts';
import { observedSuite } from './suites/observed.ts';
import { setsSuite } from './suites/sets.ts';
import { sightingsSuite } from './suites/sightings.ts';
import { switchesSuite } from './suites/switches.ts';

eachWarehouse('load', (open) => {
  let opened: Promise<Loader>;
  beforeAll(() => (opened = open().then(loaderOf)));
  const openLoader = (): Promise<Loader> => opened;
  describe('data that must load', () => observedSuite(openLoader));
  describe('switches', () => switchesSuite(openLoader));
  describe('sets', () => setsSuite(openLoader));
  describe('sightings', () => sightingsSuite(openLoader));
  describe('answers', () => answersSuite(openLoader));
});
