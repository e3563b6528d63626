/** How many requests a capped window takes, whatever its earlier answers were. */
import { expect, it } from 'vitest';
import { DAY_MS } from '../flow/clock.ts';
import { BUSY, inTable, inWorld } from '../flow/filings.ts';
import { only, sceneIn, service } from '../flow/scene.ts';
import { embeddedWarehouses } from '../support/warehouse.ts';

const open = embeddedWarehouses();
const RANGE = { date_from: '2026-01-05', date_to: '2026-02-15' };
const CONFIG = `${service()}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 50 }
    window: { from: ${RANGE.date_from}, to: ${RANGE.date_to} }
`;

it.each([
  ['cut JSON', { body: '[{"@type":"@sec_filing","acc' }],
  ['no such entity', { status: 412, body: '' }],
])('a window takes no more requests after four runs whose answers were %s than without them', async (_, bad) => {
  const undisturbed = await sceneIn(await open(), { size: BUSY });
  const usual = only(await undisturbed.sync(CONFIG));
  expect(usual).toMatchObject({ exitCode: 0, state: 'complete' });

  let isBad = true;
  const isPart = (body: unknown): boolean => {
    const { date_from: from, date_to: to } = body as typeof RANGE;
    return from !== RANGE.date_from || to !== RANGE.date_to;
  };
  const respond = ({ body }: { readonly body: unknown }) => (isBad && isPart(body) ? bad : undefined);
  const scene = await sceneIn(await open(), { size: BUSY, respond });
  for (let run = 1; run <= 4; run++) {
    await scene.sync(CONFIG, { refresh: true });
    scene.clock.advance(DAY_MS / 24);
  }
  isBad = false;
  const after = only(await scene.sync(CONFIG, { refresh: true }));
  expect(after).toMatchObject({ exitCode: 0, state: 'complete' });
  expect(after.sent).toBeLessThanOrEqual(usual.sent);
  expect(await inTable(scene)).toEqual(inWorld(scene, RANGE));
});
