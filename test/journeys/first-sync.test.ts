/** The shipped config on a fresh machine: every table is filled, a second run buys nothing, and both kinds of warehouse end alike. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { embeddedWarehouses, postgresWarehouses } from '../support/warehouse.ts';
import { catalog } from '../../src/service/catalog.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { countsOf, rowsOf, type Rows, select, states, versionsOf } from '../flow/rows.ts';
import { sentAgain, type Scene, sceneIn } from '../flow/scene.ts';

const SHIPPED = await readFile(new URL('../../configs/quickstart.yaml', import.meta.url), 'utf8');
/** Where a server keeps the pace, it goes by the server's clock, which does not move on when a test's does. */
const QUICKSTART = SHIPPED.replace('warehouse:', '  requests_per_second: 1000\nwarehouse:');
/** One call at a time, so that the sandbox signs and counts the same answers alike in every warehouse. */
const ONE_BY_ONE = QUICKSTART.replace('warehouse:', '  in_flight: 1\nwarehouse:');

/** Without the log of calls. */
const LASTING = { without: ['fact_request_costs'] };

const quickstart = (warehouse: Warehouse): Promise<Scene> => sceneIn(warehouse, { size: 'demo' });

/** Where processes share the pace, calls start by the database's clock. */
const withoutStarts = (rows: Rows): Rows => ({
  ...rows,
  fact_request_costs: (rows['fact_request_costs'] ?? []).map((row) => row.replace(/"\d{4}-\d\d-\d\d [^"]+"/, '')),
});

describe('the first sync of the quickstart', () => {
  const kinds = { embedded: embeddedWarehouses(), postgres: postgresWarehouses() };
  const held: Record<string, Rows> = {};
  /** Rows that do not vary with each call, by kind. */
  const lasting: Record<string, Rows> = {};

  it.each(Object.entries(kinds))(
    'fills every table (%s), and the second buys and changes nothing',
    async (kind, open) => {
      const scene = await quickstart(await open());

      const first = await scene.sync(ONE_BY_ONE);

      expect(first.exitCode).toBe(0);
      expect(new Set(first.syncs.map(({ endpoint }) => endpoint)).size).toBe(catalog.length);
      for (const run of first.syncs) {
        expect(run).toMatchObject({ state: 'complete', exitCode: 0, quarantined: 0, failed: 0, inDoubt: 0, left: 0 });
        expect(run.received).toBe(run.loaded + run.unchanged + run.superseded + run.quarantined);
      }
      const counts = await countsOf(scene.warehouse);
      const empty = Object.keys(counts).filter((table) => counts[table] === 0);
      // What is seen for the first time has not changed.
      expect(empty.filter((table) => !table.endsWith('_changes'))).toEqual([]);
      expect(await select(scene.warehouse, 'select resource, path, kind from sluice_ops.drift')).toEqual([]);
      const paid = scene.arrived().reduce((sum, { cost }) => sum + cost, 0);
      expect(first.syncs.reduce((sum, { points }) => sum + points, 0)).toBe(paid);
      held[kind] = withoutStarts(await rowsOf(scene.warehouse, { volatile: true }));
      lasting[kind] = await rowsOf(scene.warehouse, LASTING);
      // The log is read several times for the limit in points.
      const sent = scene.sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests');
      expect(sentAgain(sent).size).toBe(0);

      const before = await versionsOf(scene.warehouse, ['fact_request_costs']);
      scene.clock.advance(600_000);
      const second = await scene.sync(ONE_BY_ONE);

      expect(second.exitCode).toBe(0);
      expect(new Set(scene.arrived().map(({ endpoint }) => endpoint))).toEqual(new Set(['token.requests']));
      expect(second.syncs.filter(({ sent }) => sent > 0).map(({ sync }) => sync)).toEqual(['costs']);
      expect(await versionsOf(scene.warehouse, ['fact_request_costs'])).toEqual(before);
      expect(
        Object.keys(await states(scene.warehouse)).filter(
          (it) => !['fresh', 'loaded', 'empty', 'skipped'].includes(it),
        ),
      ).toEqual([]);
      expect(second.syncs.reduce((sum, { points }) => sum + points, 0)).toBe(0);
    },
  );

  it('leaves the same rows in both kinds of warehouse', () => {
    expect(Object.keys(held).toSorted()).toEqual(['embedded', 'postgres']);
    expect(held['embedded']).toEqual(held['postgres']);
  });

  it('with calls in flight together, as it is shipped, leaves the same but for what varies with each call', async () => {
    const scene = await quickstart(await kinds.postgres());
    expect((await scene.sync(QUICKSTART)).exitCode).toBe(0);
    expect(await rowsOf(scene.warehouse, LASTING)).toEqual(lasting['postgres']);
    expect(Math.max(...scene.sandbox.requests().map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(4);
  });
});
