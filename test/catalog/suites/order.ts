/** Entities that several endpoints speak of: whatever the order of the answers, the same rows. */
import { expect, it } from 'vitest';
import { catalog } from '../../../src/service/catalog.ts';
import { loaderOf, type TextRow } from '../../support/loading.ts';
import { fullRequest } from '../../support/requests.ts';
import { type Item, sampleItem } from '../../support/sample.ts';
import type { Fixture } from '../fixture.ts';

/** One answer of each endpoint, all about the same entities; what is nested in item 0 is item 1 of its own endpoint. */
const answers = catalog.map((endpoint) => ({
  name: endpoint.name,
  request: fullRequest(endpoint, 0),
  items: [0, 1].map((entity): Item => sampleItem(endpoint.returns, { entity, acquainted: true })),
}));

const SHARED = [...new Set(catalog.flatMap(({ returns }) => [returns.table]))];

/** Orders that put each answer before and after each other one. */
const ORDERS: readonly (readonly number[])[] = [
  answers.map((_, index) => index),
  answers.map((_, index) => answers.length - 1 - index),
  answers.map((_, index) => (index * 3 + 5) % answers.length),
  answers.map((_, index) => (index * 7 + 2) % answers.length),
];

export function orderSuite(fixture: Fixture): void {
  const DIMENSIONS = [
    'pronet_users',
    'pronet_companies',
    'pronet_industries',
    'pronet_posts',
    'photoshare_users',
    'photoshare_posts',
  ];

  it('previews before full answers and full answers before previews give the same rows', async () => {
    const outcomes: Record<string, TextRow[]>[] = [];
    for (const order of ORDERS) {
      const loader = loaderOf(await fixture.open());
      for (const index of order) {
        const answer = answers[index];
        if (answer) await loader.take(answer.name, answer.request, answer.items);
      }
      const tables = [...new Set([...SHARED, ...DIMENSIONS])];
      const rows = await Promise.all(
        tables.map(async (table) => [table, (await loader.rows(table)).map(contentOf)] as const),
      );
      outcomes.push(Object.fromEntries(rows));
    }
    for (const table of DIMENSIONS) {
      const full = (outcomes[0]?.[table] ?? []).filter((row) => row['_detail'] === 'full');
      expect({ table, full: full.length > 0 }).toEqual({ table, full: true });
    }
    for (const outcome of outcomes.slice(1)) expect(outcome).toEqual(outcomes[0]);
  });
}

/** Without who wrote it and when, in which the orders differ. */
const contentOf = (row: TextRow): TextRow =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name]) => !['_first_seen_at', '_changed_at', '_answer_id', '_part_hashes'].includes(name),
    ),
  );
