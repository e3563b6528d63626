/** The next step after a run that went well is a statement that runs. */
import { expect, it } from 'vitest';
import { nextStepLine } from '../../src/cli/next-step.ts';
import type { SyncSummary } from '../../src/ledger/summary.ts';
import { catalog } from '../../src/service/catalog.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { embeddedWarehouses } from '../support/warehouse.ts';

const open = embeddedWarehouses();

const ended = (endpoint: string, loaded: number, next: string | null = null, missing = 0): SyncSummary =>
  ({ endpoint, loaded, next, missing }) as SyncSummary;

it('the offered query reads the table of the sync that loaded most', async () => {
  const warehouse = await open();
  for (const { name } of catalog) {
    const look = await nextStepLine({ exitCode: 0, syncs: [ended('token.requests', 1), ended(name, 2)] });
    const [, statement = ''] = /^next: sluice query "(.*)"\n$/.exec(look) ?? [];
    expect((await readOnlyQuery(warehouse, statement)).rows).toEqual([]);
  }
});

it('the offer says so when no item is new or changed, and is left out when the summary has a next step', async () => {
  expect(await nextStepLine({ exitCode: 0, syncs: [ended('pronet.group', 0)] })).toContain('no item is new or changed');
  expect(await nextStepLine({ exitCode: 0, syncs: [ended('pronet.group', 3, 'Raise count.')] })).toBe('');
  expect(await nextStepLine({ exitCode: 4, syncs: [ended('pronet.group', 3)] })).toBe('');
  expect(await nextStepLine({ exitCode: 0, syncs: [] })).toBe('');
});

it('the offered query lists missing inputs when nothing is new because the service does not know them', async () => {
  const look = await nextStepLine({ exitCode: 0, syncs: [ended('pronet.group', 0, null, 2)] });
  const [, statement = ''] = /^next: sluice query "(.* where outcome = 'missing')"\n$/.exec(look) ?? [];
  expect((await readOnlyQuery(await open(), statement)).rows).toEqual([]);
});
