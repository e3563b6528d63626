/** The queries that the docs show, run on a warehouse in which the quickstart has run. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const text = await readFile(new URL('../../docs/queries.md', import.meta.url), 'utf8');

const queries = text
  .split(/^## /m)
  .slice(1)
  .map((part): readonly [question: string, statement: string] => [
    part.slice(0, part.indexOf('\n')),
    /```sql\n([^]*?)```/.exec(part)?.[1] ?? '',
  ]);

/** Nothing has changed yet in a warehouse in which the quickstart ran once. */
const EMPTY = [
  'What changed on the profiles, groups and people that are watched?',
  'Who is missing from the answers, and since when?',
];

it('the docs answer fifteen questions', () => {
  expect(queries.map(([question, statement]) => [question.endsWith('?'), statement.startsWith('select')])).toEqual(
    Array.from({ length: 15 }, () => [true, true]),
  );
});

anyWarehouse('the docs’ query', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
    await runQuickstart(warehouse);
  });

  it.each(queries)('%s', async (question, statement) => {
    const { columns, rows } = await readOnlyQuery(warehouse, statement);
    expect(new Set(columns).size).toBe(columns.length);
    if (!EMPTY.includes(question)) expect(rows.length).toBeGreaterThan(0);
    // A column that is null in every row answers nothing; these may be, in a world without failures and of one day.
    const silent = columns.filter((it) => rows.length > 0 && rows.every((row) => row[it] === null));
    expect(silent.filter((it) => !['error', 'gained', 'days_since', 'period_ending'].includes(it))).toEqual([]);
  });
});
