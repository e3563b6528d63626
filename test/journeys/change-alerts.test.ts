/** Alerts about changes of the service: its contract, its prices, access to it, and inputs without data. */
import { describe, expect, it } from 'vitest';
import { changeConditions } from '../../src/alerts/run-changes.ts';
import { readRunFacts, type RunFacts } from '../../src/alerts/run-facts.ts';
import { sendAlerts } from '../../src/alerts/send-alerts.ts';
import { listAlerts } from '../../src/alerts/store.ts';
import { ALERT_KINDS } from '../../src/config/alerts.ts';
import { Secret } from '../../src/config/values/secret.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { readStatus } from '../../src/insight/status.ts';
import { openHooks } from '../alerts/hooks.ts';
import { DAY_MS } from '../flow/clock.ts';
import { BUSY, filings } from '../flow/filings.ts';
import { select } from '../flow/rows.ts';
import { only, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse, postgresWarehouses, realEffects } from '../support/warehouse.ts';

const NAMES = Array.from({ length: 12 }, (_, at) => `n${at}`);
const CONFIG = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${NAMES.join(', ')}] } }
`;

anyWarehouse('alerts about changes of the service', (open) => {
  it('are raised and cleared once each, by what runs show', async () => {
    let answer: (name: string) => Responded | undefined = () => undefined;
    const group = (name: string, more = {}): Responded => ({
      body: JSON.stringify([{ urn: { type: 'group', value: name }, name, url: 'u', member_count: 1, ...more }]),
    });
    const respond = ({ endpoint, body }: RespondRequest): Responded | undefined => {
      const { group: name = '' } = body as { readonly group?: string };
      return endpoint === 'pronet.group' ? (answer(name) ?? group(name)) : undefined;
    };
    const scene = await sceneIn(await open(), { respond });
    const hooks = await openHooks();
    const on = ALERT_KINDS.filter((kind) => kind !== 'quarantine');
    const alerts = { webhook: new Secret(hooks.url), command: undefined, on, quarantine: 0, forecastMs: DAY_MS };
    const effects = {
      now: scene.clock.now,
      sleep: realEffects.sleep,
      env: {},
      redact: (it: string) => it,
      onNotice: () => undefined,
    };
    const run = async (respondTo: typeof answer, points = 1): Promise<string[]> => {
      answer = respondTo;
      scene.clock.advance(60_000);
      const before = hooks.taken.length;
      const summary = await scene.sync(CONFIG);
      // The request log shows the cost of the calls.
      await select(
        scene.warehouse,
        `update sluice_ops.requests set charged = ${points} where charged is null and state = 'loaded'`,
      );
      await sendAlerts(
        { alerts, budget: {}, file: 'sluice.yaml', syncs: summary.syncs.map(({ sync: name }) => ({ name })) },
        scene.warehouse,
        summary,
        effects,
      );
      return hooks.taken
        .slice(before)
        .map(({ body }) => body as { readonly kind: string; readonly state: string })
        .map(({ kind, state }) => `${kind} ${state}`)
        .toSorted();
    };
    const good = () => undefined;
    const novel = (name: string) => group(name, { novel: 1 });
    const because = async (kind: string) =>
      (await listAlerts(operationsOf(scene.warehouse), 'all')).find((it) => it.kind === kind)?.because;
    expect(await run(good)).toEqual([]);
    expect(await run(novel)).toEqual(['contract raised']);
    expect(await because('contract')).toContain('novel: unknown field, 12 times');
    expect(await run(novel)).toEqual(['contract cleared']);
    const missing = (name: string): Responded | undefined => (name === 'n3' ? undefined : { status: 412, body: '{}' });
    expect(await run(missing)).toEqual(['counts raised']);
    expect(await because('counts')).toBe(
      '11 of 12 inputs are missing or empty (92%); usual is 0%, the median of 3 earlier runs',
    );
    expect((await readStatus(scene.warehouse)).syncs).toMatchObject([{ state: 'complete', exitCode: 0, missing: 11 }]);
    expect(await run(missing)).toEqual([]);
    expect(await run(() => ({ status: 401, body: '{}' }))).toEqual(['access raised', 'failed raised']);
    expect(await because('access')).toMatch(/^the service refused every request of the run .*; it last answered at 20/);
    expect(await run(good, 3)).toEqual(['access cleared', 'counts cleared', 'failed cleared', 'price raised']);
    expect(await because('price')).toMatch(/costs 3 points; calls of the same size usually cost 1/);
    await hooks.close();
  });
});

const open = postgresWarehouses();

it('a refused run that is continued in vain is still refused, whatever it got before', async () => {
  let status = 200;
  let number = 0;
  const respond = ({ endpoint }: RespondRequest): Responded | undefined => {
    number += endpoint === 'pronet.group' ? 1 : 0;
    return number > 3 ? { status, body: '{}' } : undefined;
  };
  const scene = await sceneIn(await open(), { respond });
  const on = ALERT_KINDS;
  const alerts = { webhook: undefined, command: undefined, on, quarantine: 0, forecastMs: DAY_MS };
  const access = async (as: number) => {
    status = as;
    const summary = await scene.sync(CONFIG);
    scene.clock.advance(60_000);
    const { now, sleep } = scene.clock;
    const effects = { now, sleep, env: {}, redact: (it: string) => it, onNotice: () => undefined };
    await sendAlerts(
      { alerts, budget: {}, file: 'sluice.yaml', syncs: [{ name: 'groups' }] },
      scene.warehouse,
      summary,
      effects,
    );
    const all = await listAlerts(operationsOf(scene.warehouse), 'all');
    return {
      runs: summary.syncs.map(({ exitCode, runId }) => [exitCode, runId]),
      state: all.find(({ kind }) => kind === 'access')?.state,
    };
  };
  expect(await access(401)).toEqual({ runs: [[3, '1']], state: 'raised' });
  const alert = (await listAlerts(operationsOf(scene.warehouse), 'all')).find(({ kind }) => kind === 'access');
  expect(alert?.because).toMatch(
    /^the service refused the token, after answers to 3 of the requests of the run \(.*401.*\)$/,
  );
  number = 0;
  expect(await access(401), 'answers, and then a refusal').toEqual({ runs: [[3, '1']], state: 'raised' });
  expect(await access(503)).toEqual({ runs: [[5, '1']], state: 'raised' });
  number = -20;
  expect(await access(200)).toEqual({ runs: [[0, '1']], state: 'cleared' });
});

describe('the share of inputs without data', () => {
  it('counts an input once, whatever the number of its requests', async () => {
    const scene = await sceneIn(await open(), { size: BUSY });
    const run = only(await scene.sync(filings('window: { from: 2026-01-05, to: 2026-02-06 }')));
    expect(run.sent).toBeGreaterThan(10);
    const facts = await readRunFacts(scene.warehouse, { ...run, runId: run.runId ?? '' });
    expect(facts?.inputs).toEqual({ inputs: 1, without: 0 });
  });
});

describe('a change of the service', () => {
  const facts = (more: Partial<RunFacts> = {}): RunFacts => ({
    sync: 'groups',
    runId: '7',
    newDrift: [],
    refused: 0,
    answered: 12,
    answeredAgain: 12,
    answeredBefore: undefined,
    inputs: { inputs: 12, without: 0 },
    earlier: [],
    ...more,
  });
  const ended = { exitCode: 0, error: null, next: null };
  const stateOf = (kind: string, given: RunFacts, calls: readonly { size: string; points: number }[] = []) =>
    changeConditions(ended, given, calls).find((it) => it.kind === kind)?.isRaised;
  const call = (points: number, size = '-/1') => ({ size, points });

  it('in the share of inputs without data is judged by history, or above one half of at least ten inputs', () => {
    const counts = (without: number, inputs: number, earlier: readonly number[] = []) =>
      stateOf(
        'counts',
        facts({ inputs: { inputs, without }, earlier: earlier.map((it) => ({ inputs: 100, without: it })) }),
      );
    expect([counts(6, 12), counts(7, 12), counts(9, 9)]).toEqual([false, true, undefined]);
    expect([counts(80, 100, [60, 61, 62]), counts(92, 100, [60, 61, 62])]).toEqual([false, true]);
    expect(counts(80, 100, [1, 1])).toBe(true);
    expect(stateOf('counts', facts({ inputs: undefined }))).toBeUndefined();
  });

  it('in prices needs three calls in a row, and three earlier calls of the same size', () => {
    const price = (...points: readonly number[]) =>
      stateOf(
        'price',
        facts(),
        points.map((it) => call(it)),
      );
    expect(price(2, 2, 2, 1, 1, 1)).toBe(true);
    expect(price(2, 2, 1, 1, 1, 1)).toBe(false);
    expect(price(2, 2, 2, 1, 1)).toBeUndefined();
    // Larger calls may cost more.
    expect(
      stateOf('price', facts(), [call(9, '-/9'), call(9, '-/9'), call(9, '-/9'), call(1), call(1), call(1)]),
    ).toBeUndefined();
  });

  it('in access is neither shown nor cleared by a run without answers and refusals', () => {
    expect(stateOf('access', facts({ answered: 0, answeredAgain: 0, newDrift: undefined }))).toBeUndefined();
    expect(stateOf('access', facts({ answered: 0, refused: 3 }))).toBe(true);
    expect(stateOf('access', facts({ answered: 1, answeredAgain: 1, refused: 3 }))).toBe(false);
    expect(stateOf('access', facts({ answered: 1, answeredAgain: 0 }))).toBeUndefined();
    expect(stateOf('contract', facts({ newDrift: undefined }))).toBeUndefined();
  });
});
