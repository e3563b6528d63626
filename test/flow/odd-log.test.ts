/** Request logs with oddities that the contract does not rule out, synced for days: no row lost, none twice, always an end. */
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../support/long.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { BEGAN, type Oddities, oddPage, type OddRow } from '../service/odd-log.ts';
import { select } from './rows.ts';
import { only, type Scene, sceneIn, service } from './scene.ts';

const MINUTE_MS = 60_000;
const START = '2026-11-20T12:00:00.000Z';

const costs = (more = ''): string => `${service()}
syncs:
  costs: { endpoint: token.requests, lookback: 0s ${more} }
`;

/** A scene whose service has such a log, and a clock that is so far ahead. */
async function logging(
  warehouse: Scene['warehouse'],
  odd: Oddities,
  { aheadMs = 0, logsReadings = false, trafficPerReading = 0 } = {},
) {
  const rows: OddRow[] = [];
  let readings = 0;
  const add = (endpoint: string, lasts = 0): void => {
    const at = (scene.clock.now().getTime() + aheadMs) * 1000 - Number(BEGAN) + rows.length;
    rows.push({ id: `00000000-0000-4000-8000-${String(rows.length).padStart(12, '0')}`, at, lasts, endpoint });
  };
  const scene = await sceneIn(warehouse, {
    start: START,
    respond: ({ endpoint, body }) => {
      if (endpoint !== 'token.requests') return undefined;
      if (logsReadings) add('/token/requests');
      for (let n = 0; n < trafficPerReading; n += 1) add('/api/other');
      scene.clock.advance(1000);
      readings += 1;
      const page = oddPage(rows, odd, body as Readonly<Record<string, unknown>>, readings);
      return { body: page.map((row) => ({ cost: 1, is_paid: true, plan: 'p', duration: 1, ...(row as object) })) };
    },
  });
  return {
    ...scene,
    rows,
    add,
    readings: () => readings,
    loaded: async () =>
      (await select<{ id: string }>(warehouse, 'select id from sluice.fact_request_costs order by id')).map(
        ({ id }) => id,
      ),
  };
}

const KINDS = (['ascending', 'descending'] as const).flatMap((order) =>
  (['inclusive', 'exclusive'] as const).map((edge) => ({ order, edge })),
);

/** Clocks that are so many minutes ahead; the kinds of logs differ with one of them, in the long form with each. */
const SKEWED = [-10, 10, 600, -600].flatMap((ahead) =>
  KINDS.slice(ahead === -10 || IS_LONG ? 0 : -1).map((kind) => ({ ahead, ...kind })),
);

describe('a request log', () => {
  const open = postgresWarehouses();

  it.each(SKEWED)(
    'of a service whose clock is $ahead minutes ahead is read whole in time ($order, $edge)',
    async ({ ahead, ...kind }) => {
      const log = await logging(await open(), kind, { aheadMs: ahead * MINUTE_MS });
      for (let round = 0; round < 8; round += 1) {
        // Some in quick succession, some hours later, over midnight.
        for (let n = 0; n <= round * 3; n += 1) log.add('/api/pronet/group');
        expect(only(await log.sync(costs())).exitCode).toBe(0);
        log.clock.advance(round % 3 === 0 ? 4 * 60 * MINUTE_MS : 3 * MINUTE_MS);
      }
      expect(only(await log.sync(costs())).exitCode).toBe(0);
      expect(await log.loaded()).toEqual(log.rows.map(({ id }) => id));
      expect(log.readings()).toBeLessThan(80);
    },
  );

  it('with more rows of one instant than a page says that a longer page shows more', async () => {
    const log = await logging(await open(), { order: 'descending', edge: 'exclusive' });
    for (let n = 0; n < 25; n += 1) log.add('/api/other');
    log.rows.forEach((row, place) => (log.rows[place] = { ...row, at: log.rows[0]?.at ?? 0 }));
    expect(only(await log.sync(costs(', request: { limit: 10 }')))).toMatchObject({
      exitCode: 0,
      truncated: 1,
      next: expect.stringContaining('raise request.limit'),
    });
    expect(await log.loaded()).toHaveLength(10);
  });

  it.each(KINDS)('that logs its own readings is read to its end each time ($order, $edge)', async (kind) => {
    const log = await logging(await open(), kind, { logsReadings: true });
    for (let round = 0; round < 4; round += 1) {
      for (let n = 0; n < 130; n += 1) log.add('/api/pronet/group');
      const logged = log.rows.length;
      expect(only(await log.sync(costs())).exitCode).toBe(0);
      const loaded = new Set(await log.loaded());
      expect(log.rows.slice(0, logged).filter(({ id }) => !loaded.has(id))).toEqual([]);
      log.clock.advance(60 * MINUTE_MS);
    }
    expect(log.readings()).toBeLessThan(60);
  });

  it.each(KINDS)('that grows as fast as it is read has an end ($order, $edge)', async (kind) => {
    const log = await logging(await open(), kind, { trafficPerReading: 3 });
    for (let n = 0; n < 130; n += 1) log.add('/api/pronet/group');
    const logged = log.rows.length;
    expect(only(await log.sync(costs())).exitCode).toBe(0);
    log.clock.advance(10 * MINUTE_MS);
    const before = log.rows.length;
    expect(only(await log.sync(costs()))).toMatchObject({ exitCode: 0, error: null });
    const loaded = new Set(await log.loaded());
    expect(log.rows.slice(0, before).filter(({ id }) => !loaded.has(id))).toEqual([]);
    expect(logged).toBeLessThan(before);
    // One reading a second, for a minute each time.
    expect(log.readings()).toBeLessThan(160);
  });

  it.each(KINDS)('that is sorted by the ends of requests is read whole ($order, $edge)', async (kind) => {
    const log = await logging(await open(), { ...kind, isByEnd: true });
    for (let n = 0; n < 300; n += 1) {
      log.add('/api/pronet/group', ((n * 7919) % 30_000) * 1000);
      log.clock.advance(1000);
    }
    expect(only(await log.sync(costs()))).toMatchObject({ exitCode: 0, state: 'complete', truncated: 0 });
    expect(await log.loaded()).toEqual(log.rows.map(({ id }) => id));
    expect(log.readings()).toBeLessThan(20);
    // A second run reads only what is new.
    for (let n = 0; n < 20; n += 1) log.add('/api/pronet/group', ((n * 7919) % 30_000) * 1000);
    expect(only(await log.sync(costs()))).toMatchObject({ exitCode: 0, state: 'complete', truncated: 0 });
    expect(await log.loaded()).toEqual(log.rows.map(({ id }) => id));
  });

  it('that cuts cursors to seconds and has more rows in one second than a page is partial', async () => {
    const log = await logging(await open(), { order: 'descending', edge: 'exclusive', cursorDigits: 0 });
    for (let n = 0; n < 50; n += 1) {
      log.add('/api/pronet/group');
      log.clock.advance(1000);
    }
    for (let n = 0; n < 250; n += 1) log.add('/api/pronet/group');
    log.clock.advance(10_000);
    log.add('/api/pronet/group');
    const first = only(await log.sync(costs()));
    expect(first).toMatchObject({ exitCode: 4, state: 'partial', truncated: 1 });
    expect(first.error).toContain('the same full page for every cursor near its end');
  });

  it('that ignores window, limit or cursor is loaded as far as it returns rows', async () => {
    for (const odd of [{ ignoresWindow: true }, { isUnpaged: true }, { isUnpaged: true, ignoresWindow: true }]) {
      const log = await logging(await open(), { order: 'ascending', edge: 'exclusive', ...odd });
      for (let round = 0; round < 3; round += 1) {
        for (let n = 0; n < 250; n += 1) log.add('/api/pronet/group');
        log.clock.advance(26 * 60 * MINUTE_MS);
        expect(only(await log.sync(costs()))).toMatchObject({ exitCode: 0, truncated: 0 });
      }
      expect(await log.loaded()).toEqual(log.rows.map(({ id }) => id));
      expect(log.readings()).toBeLessThan(40);
    }
    const stuck = await logging(await open(), { order: 'descending', edge: 'exclusive', ignoresCursor: true });
    for (let n = 0; n < 250; n += 1) stuck.add('/api/pronet/group');
    expect(only(await stuck.sync(costs(), { failOnTruncated: true }))).toMatchObject({ exitCode: 4, truncated: 1 });
    expect(await stuck.loaded()).toHaveLength(100);
  });
});
