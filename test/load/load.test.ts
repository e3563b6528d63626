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
  const ground = (): Promise<Loader> => opened;
  describe('data that must load', () => observedSuite(ground));
  describe('switches', () => switchesSuite(ground));
  describe('sets', () => setsSuite(ground));
  describe('sightings', () => sightingsSuite(ground));
  describe('answers', () => answersSuite(ground));
});
