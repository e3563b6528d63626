/** Watermarks that people read and reset: a reset makes the next run request again what was reset, and nothing else. */
import { describe, expect, it } from 'vitest';
import { HeldError, UsageError } from '../../src/errors.ts';
import { readMarks, type SyncMarks } from '../../src/flow/marks/read-marks.ts';
import { resetMarks, type ResetOptions, type ResetSummary } from '../../src/flow/marks/reset-marks.ts';
import { canonicalJson, digestOf } from '../../src/service/canonical-json.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { acquireLease, syncLease } from '../../src/ledger/lease.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { BUSY, filings, range } from './filings.ts';
import { rowsOf, select } from './rows.ts';
import { configOf, only, questionOf, type Scene, sceneIn, service } from './scene.ts';

const TWO = filings(
  'for_each: { entity_name: [AAPL, MSFT] }\n    window: { from: 2026-02-01, to: today, lookback: 2d }\n    max_age: 30d',
);

const LOG = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] } }
  costs: { endpoint: token.requests, lookback: 1h, after: [groups] }
`;

const listed = async (scene: Scene, yaml: string): Promise<SyncMarks[]> =>
  readMarks(scene.warehouse, (await configOf(yaml, scene.sandbox.url)).syncs, scene.clock.now());

async function reset(
  { warehouse, sandbox, clock }: Scene,
  yaml: string,
  sync: string,
  options: Partial<ResetOptions> = {},
): Promise<ResetSummary> {
  const config = await configOf(yaml, sandbox.url);
  const definition = config.syncs.find(({ name }) => name === sync);
  if (!definition) throw new Error(`no sync ${sync}`);
  const effects = { now: clock.now, sleep: clock.sleep, newId: () => 'resetter' };
  return resetMarks(warehouse, config, definition, { dryRun: false, ...options }, effects);
}

/** The questions that arrived since the last call, of one input. */
const arrivedOf = (scene: Scene): { readonly apple: string[]; readonly microsoft: string[] } => {
  const arrived = scene.arrived().filter(({ endpoint }) => endpoint === 'sec.search.companies');
  const of = (name: string): string[] =>
    arrived
      .filter(({ body }) => (body as { entity_name?: string }).entity_name === name)
      .map(questionOf)
      .toSorted();
  return { apple: of('AAPL'), microsoft: of('MSFT') };
};

anyWarehouse('a reset watermark', (open) => {
  it('makes the next run request again what that input covered, whatever max_age is, and nothing else', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    await scene.sync(TWO);
    const first = arrivedOf(scene);
    expect(first.apple.length).toBeGreaterThan(0);
    scene.clock.advance(1000);
    // Without a reset, everything is covered.
    expect(only(await scene.sync(TWO)).sent).toBe(0);
    const rows = await rowsOf(scene.warehouse, {});

    const preview = await reset(scene, TWO, 'filings', { input: 'AAPL', dryRun: true });
    expect(only(await scene.sync(TWO)).sent).toBe(0);
    const done = await reset(scene, TWO, 'filings', { input: 'AAPL' });

    expect(done).toEqual({ ...preview, dryRun: false });
    expect(done.reset).toEqual([{ input: { entity_name: 'AAPL' }, before: '2026-03-05', after: null }]);
    expect(done.next.before).toMatchObject({ requests: 0, most: 0 });
    expect(done.next.after.requests).toBeGreaterThan(0);
    expect(await rowsOf(scene.warehouse, {})).toEqual(rows);
    scene.arrived();
    scene.clock.advance(1000);
    const run = only(await scene.sync(TWO));
    expect(run).toMatchObject({ state: 'complete', exitCode: 0, sent: first.apple.length });
    expect(run.quote?.requests).toBe(done.next.after.requests);
    expect(arrivedOf(scene)).toEqual({ apple: first.apple, microsoft: [] });
    // The answers since the reset serve again.
    scene.clock.advance(1000);
    expect(only(await scene.sync(TWO)).sent).toBe(0);
  });

  it('makes the next run request what three unreadable answers had made failing, also after max_age', async () => {
    let isCut = true;
    const scene = await sceneIn(await open(), {
      size: BUSY,
      respond: () => (isCut ? { body: '[{"@type":' } : undefined),
    });
    const yaml = filings('window: { from: 2026-02-02, to: 2026-02-08 }\n    max_age: 3d');
    const sent: number[] = [];
    const run = async (): Promise<void> => {
      sent.push(only(await scene.sync(yaml)).sent);
      scene.clock.advance(DAY_MS);
    };
    for (const _ of [1, 2, 3, 4]) await run();
    await reset(scene, yaml, 'filings');
    scene.clock.advance(9 * DAY_MS);
    isCut = false;
    await run();
    await run();

    expect(sent.slice(0, 4)).toEqual([1, 1, 1, 0]);
    expect(sent[4]).toBeGreaterThan(0);
  });
});

describe('the watermarks of a sync', () => {
  const open = postgresWarehouses();

  it('are listed with what is known, since when, and what the next run requests', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const [fresh] = await listed(scene, TWO);
    expect(fresh?.marks[0]).toMatchObject({ known: null, asOf: null, next: { from: '2026-02-01', to: '2026-03-06' } });
    await scene.sync(TWO);

    const [covered] = await listed(scene, TWO);
    expect(covered).toMatchObject({ sync: 'filings', endpoint: 'sec.search.companies', unused: 0, problem: null });
    expect(covered?.marks).toEqual(
      ['AAPL', 'MSFT'].map((entity_name) => ({
        input: { entity_name },
        known: { from: '2026-02-01', to: '2026-03-05' },
        asOf: '2026-03-06T15:00:00.000Z',
        unreadable: 0,
        resetAt: null,
        next: null,
      })),
    );
    scene.clock.advance(2 * DAY_MS);
    const [later] = await listed(scene, TWO);
    const tail = { from: '2026-03-03', to: '2026-03-08' };
    expect(later?.marks.map(({ next }) => next)).toEqual([tail, tail]);
    const [changed] = await listed(scene, TWO.replace('MSFT', 'IBM'));
    expect(changed).toMatchObject({ unused: 1, marks: [{ known: { to: '2026-03-05' } }, { known: null }] });
  });

  it('are one for inputs with the same question, and each of these inputs names it for a reset', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const yaml = TWO.replace('entity_name: [AAPL, MSFT]', 'forms: [[10-K, 8-K], [8-K, 10-K]]');
    const first = { forms: ['10-K', '8-K'] };
    await scene.sync(yaml);

    const [marks] = await listed(scene, yaml);
    expect(marks).toMatchObject({ unused: 0, marks: [{ input: first, known: { to: '2026-03-05' }, next: null }] });
    const done = await reset(scene, yaml, 'filings', { input: '{"forms":["8-K","10-K"]}' });
    expect(done.reset).toEqual([{ input: first, before: '2026-03-05', after: null }]);
  });

  it('stay those of an input whose count, timeout or order of forms changes', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const yaml = (input: string): string =>
      filings(
        `for_each: [{ ${input} }]\n    window: { from: 2026-02-20, to: today, lookback: 1d }`,
        '{ location_codes: [NY] }',
      );
    await scene.sync(yaml('count: 100, forms: [10-K, 8-K]'));
    scene.arrived();
    scene.clock.advance(DAY_MS);

    await scene.sync(yaml('count: 50, forms: [8-K, 10-K], timeout: 120'));

    expect(range(scene)).toBe('2026-03-04..2026-03-07');
    expect(await listed(scene, yaml('count: 20, forms: [8-K, 10-K]'))).toMatchObject([
      { unused: 0, marks: [{ known: { from: '2026-02-20', to: '2026-03-06' } }] },
    ]);
    await scene.sync(yaml('count: 50, forms: [8-K]'));
    expect(range(scene)).toBe('2026-02-20..2026-03-07');
  });

  it('are shared by inputs that differ in their count, and pass nothing that one of them lacks', async () => {
    let isRefused = true;
    const respond = ({ body }: RespondRequest): Responded | undefined =>
      isRefused && (body as { count?: number }).count === 90 ? { status: 404, body: '{}' } : undefined;
    const scene = await sceneIn(await open(), { size: BUSY, respond });
    const yaml = filings(
      'for_each: [{ count: 90, forms: [8-K] }, { count: 100, forms: [8-K] }]\n    window: { from: 2026-02-20, to: today, lookback: 1d }',
      '{ location_codes: [NY] }',
    );
    await scene.sync(yaml);
    expect(await listed(scene, yaml)).toMatchObject([{ marks: [{ known: null }] }]);

    isRefused = false;
    scene.clock.advance(DAY_MS);
    await scene.sync(yaml);

    expect(await listed(scene, yaml)).toMatchObject([{ marks: [{ known: { to: '2026-03-06' } }] }]);
  });

  it('are found under the names of earlier versions, also for a reset', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const yaml = filings(
      'for_each: [{ count: 100, forms: [8-K, 10-K] }]\n    window: { from: 2026-02-20, to: today, lookback: 1d }\n    max_age: 30d',
      '{ location_codes: [NY] }',
    );
    await scene.sync(yaml);
    const { syncs } = await configOf(yaml, scene.sandbox.url);
    const former = canonicalJson([syncs[0]?.windowHash, { count: 100, forms: ['8-K', '10-K'] }]);
    await select(scene.warehouse, `update sluice_ops.marks set name = 'window:${digestOf(former)}' returning name`);
    scene.arrived();
    scene.clock.advance(DAY_MS);
    expect(await listed(scene, yaml)).toMatchObject([{ unused: 0, marks: [{ known: { to: '2026-03-05' } }] }]);

    await scene.sync(yaml);

    expect(range(scene)).toBe('2026-03-04..2026-03-07');
    expect(await listed(scene, yaml)).toMatchObject([{ unused: 0, marks: [{ known: { to: '2026-03-06' } }] }]);
    await reset(scene, yaml, 'filings');
    expect(await listed(scene, yaml)).toMatchObject([{ unused: 0, marks: [{ known: null }] }]);
    await scene.sync(yaml);
    expect(range(scene)).toBe('2026-02-20..2026-03-07');
  });

  it('outlast another order of the filters, also under the names of earlier versions', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const yaml = (request: string): string =>
      filings('window: { from: 2026-02-20, to: today, lookback: 1d }', `{ count: 100, ${request} }`);
    const first = yaml('forms: [8-K, 10-K]');
    await scene.sync(first);
    const { syncs } = await configOf(first, scene.sandbox.url);
    const former = canonicalJson([syncs[0]?.formerWindowHash, {}]);
    await select(scene.warehouse, `update sluice_ops.marks set name = 'window:${digestOf(former)}' returning name`);
    scene.arrived();
    for (const [request, from] of [
      ['forms: [8-K, 10-K]', '2026-03-04'],
      ['forms: [10-K, 8-K, 10-K], entity_name: ""', '2026-03-05'],
      ['forms: [10-K]', '2026-02-20'],
    ] as const) {
      scene.clock.advance(DAY_MS);
      await scene.sync(yaml(request));
      expect(range(scene).slice(0, 10)).toBe(from);
    }
  });

  it('move back to a day, from which the next run requests again with the lookback', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    await scene.sync(TWO);
    scene.clock.advance(1000);

    const done = await reset(scene, TWO, 'filings', { to: '2026-02-20' });

    expect(done.reset.map(({ before, after }) => `${before} ${after}`)).toEqual([
      '2026-03-05 2026-02-20',
      '2026-03-05 2026-02-20',
    ]);
    const [marks] = await listed(scene, TWO);
    expect(marks?.marks[1]).toMatchObject({
      known: { from: '2026-02-01', to: '2026-02-20' },
      resetAt: scene.clock.now().toISOString(),
      next: { from: '2026-02-18', to: '2026-03-06' },
    });
    scene.arrived();
    await scene.sync(TWO);
    const arrived = scene.arrived().map(({ body }) => body as { date_from: string; date_to: string });
    expect(arrived.map(({ date_from: from }) => from).toSorted()[0]).toBe('2026-02-18');
    const [after] = await listed(scene, TWO);
    expect(after?.marks[0]?.known).toEqual({ from: '2026-02-01', to: '2026-03-05' });
    // What is already earlier does not move.
    expect((await reset(scene, TWO, 'filings', { to: '2026-03-05' })).reset).toEqual([]);
  });

  it('know nothing of a window whose first day has not ended', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const today = TWO.replace('from: 2026-02-01', 'from: 2026-03-06');
    await scene.sync(today);
    const [marks] = await listed(scene, today);
    expect(marks?.marks[0]).toMatchObject({ known: null, next: null });
  });

  it('of the request log move back to the end of a day, or to its beginning', async () => {
    const scene = await sceneIn(await open());
    await scene.sync(LOG);
    scene.clock.advance(3 * DAY_MS);
    await scene.sync(LOG);
    const [before] = await listed(scene, LOG);
    expect(before?.sync).toBe('costs');
    expect(before?.marks[0]?.next?.from).not.toBeNull();

    await reset(scene, LOG, 'costs', { to: '2026-03-06' });
    const [back] = await listed(scene, LOG);
    expect(back?.marks[0]).toMatchObject({
      known: { from: null, to: '2026-03-07T00:00:00.000000Z' },
      next: { from: '2026-03-06T23:00:00.000000Z', to: null },
    });
    await reset(scene, LOG, 'costs');
    const [none] = await listed(scene, LOG);
    expect(none?.marks[0]).toMatchObject({ known: null, next: { from: null, to: null } });
    scene.arrived();
    await scene.sync(LOG, { names: ['costs'] });
    expect(scene.arrived()[0]?.body).toEqual({ limit: '100' });
  });

  it('are not reset for an unknown input, for a sync without any, or while a run is to be continued', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    await scene.sync(TWO);
    await scene.sync(LOG, { names: ['groups'] });

    const misspelled = reset(scene, TWO, 'filings', { input: 'appl' });
    await expect(misspelled).rejects.toThrow('"appl" is not an input of filings; did you mean "AAPL"?');
    await expect(misspelled).rejects.toThrow(UsageError);
    await expect(reset(scene, LOG, 'groups')).rejects.toThrow('groups has no watermarks');
    await operationsOf(scene.warehouse).updateTable('runs').set({ state: 'out_of_points' }).execute();
    await expect(reset(scene, TWO, 'filings')).rejects.toThrow('was interrupted, and the next sync continues it');
  });

  it('are not reset while another process holds the lease of the sync', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    await scene.sync(TWO);
    const before = await select(scene.warehouse, 'select * from sluice_ops.marks order by 1, 2');
    await acquireLease(operationsOf(scene.warehouse), syncLease('filings'), 'another', false);

    await expect(reset(scene, TWO, 'filings')).rejects.toThrow(HeldError);
    expect(await select(scene.warehouse, 'select * from sluice_ops.marks order by 1, 2')).toEqual(before);
  });
});
