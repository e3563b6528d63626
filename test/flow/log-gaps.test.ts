/** Walks through the request log that do not reach its end: no day counts as read whose pages were not all read. */
import { expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import type { RespondRequest } from '../../src/sandbox/options.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { oddPage, textAt } from '../service/odd-log.ts';
import { DAY_MS } from './clock.ts';
import { select } from './rows.ts';
import { only, type Scene, sceneIn, sentAgain, service } from './scene.ts';

const START = '2026-11-20T12:00:00.000Z';
const MIDNIGHT = '2026-11-20T00:00:00.000000Z';
const costs = (from: string): string => `${service()}
syncs:
  costs: { endpoint: token.requests, from: ${from} }
`;

/** Sends this many requests that the sandbox logs. */
async function ask({ sandbox }: Scene, times: number): Promise<void> {
  const headers = { 'access-token': SANDBOX_TOKEN, 'content-type': 'application/json' };
  for (let n = 0; n < times; n += 1)
    await fetch(`${sandbox.url}/api/microblog/user`, { method: 'POST', headers, body: '{"user":"acme_labs"}' }).then(
      (it) => it.text(),
    );
}

const loaded = async ({ warehouse }: Scene): Promise<number> =>
  Number((await select<{ n: string }>(warehouse, 'select count(*) as n from sluice.fact_request_costs'))[0]?.n);
const mark = async ({ warehouse }: Scene): Promise<string | undefined> =>
  (await select<{ value: string }>(warehouse, "select value from sluice_ops.marks where name = 'log'"))[0]?.value;
const gaps = async ({ warehouse }: Scene): Promise<number | undefined> =>
  (await readStatus(warehouse)).syncs.find(({ sync }) => sync === 'costs')?.truncated;
const extents = ({ warehouse }: Scene): Promise<unknown> =>
  select(warehouse, "select extent from sluice.sync_slices where sync = 'costs'");

const rowOf = (id: number, at: number) => ({
  id: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
  started_at: textAt(at),
  endpoint: '/api/pronet/group',
  cost: 1,
  is_paid: true,
  plan: 'p',
  duration: 1,
});

/** The page of a log with 250 rows, one in each microsecond of the day. */
const pageOf = (request: unknown, ignoresCursor = false): unknown[] =>
  oddPage(
    Array.from({ length: 250 }, (_, n) => ({ id: rowOf(n, n).id, at: n })),
    { order: 'ascending', edge: 'exclusive', ignoresCursor },
    request as Readonly<Record<string, unknown>>,
    1,
  ).map((row) => ({ ...rowOf(0, 0), ...(row as object) }));

/** Replaces the stored answers by the first page, as a newer version of this program would read them. */
async function makeReadable({ warehouse }: Scene): Promise<void> {
  const text = `$body$${JSON.stringify(pageOf({ limit: 100 }))}$body$`;
  await select(
    warehouse,
    `update sluice_ops.answers set body = convert_to(${text}, 'UTF8'), encoding = 'identity',
       bytes = octet_length(${text}), sha256 = encode(sha256(convert_to(${text}, 'UTF8')), 'hex') returning id`,
  );
}

anyWarehouse('a walk of the request log', (open) => {
  it('with very many pages pauses, and the next sync goes on there; its day is not read before', async () => {
    const scene = await sceneIn(await open(), { logOrder: 'ascending', start: START });
    await ask(scene, 3);
    scene.clock.advance(DAY_MS);
    await ask(scene, 350);
    scene.clock.advance(DAY_MS);
    await ask(scene, 3);
    scene.arrived();
    const sync = async () => only(await scene.sync(costs('2026-11-20'), { effects: { pauseAfterPages: 2 } }));

    const first = await sync();

    expect(first).toMatchObject({ exitCode: 5, state: 'interrupted', truncated: 0 });
    expect(first.error).toBe(
      'the log was not read to its end: {"start_time":"2026-11-21T00:00:00.000000Z","end_time":"2026-11-22T00:00:01.000000Z"} has more than 2 pages',
    );
    expect(await loaded(scene)).toBe(205);
    expect(await mark(scene)).toBe('2026-11-21T00:00:00.000000Z');

    const second = await sync();
    expect(second).toMatchObject({ exitCode: 5, state: 'interrupted', continued: true });
    expect(second.error).toMatch(/has more than 4 pages$/);
    expect(await mark(scene)).toBe('2026-11-21T00:00:00.000000Z');

    expect(await sync()).toMatchObject({ exitCode: 0, state: 'complete', continued: true, truncated: 0 });
    expect(await loaded(scene)).toBe(356);
    expect(await mark(scene)).toMatch(/^2026-11-22T12:00:00/);
    expect(sentAgain(scene.arrived())).toEqual(new Map());
  });

  it('that a log leads back to an earlier cursor is not complete, and its days are read again', async () => {
    let isFixed = false;
    let pages = 0;
    // The rows of each page rise, but the eighth page lies before the seventh, so the walk turns around.
    const lastOf = (n: number): number => (n === 7 ? 70 : n === 12 ? 108 : 10 * (n + 1));
    const page = (n: number): unknown[] => {
      if (n === 7) return page(6).slice(-1);
      const again = [0, 8, 12].includes(n) ? [] : [rowOf(2 * n - 1, lastOf(n - 1))];
      return [...again, rowOf(2 * n, n === 8 ? 65 : lastOf(n) - 7), rowOf(2 * n + 1, lastOf(n))];
    };
    const respond = ({ endpoint }: RespondRequest) => {
      if (endpoint !== 'token.requests') return undefined;
      pages += 1;
      return { body: isFixed ? [] : page(pages - 1) };
    };
    const scene = await sceneIn(await open(), { start: START, respond });

    const first = only(await scene.sync(costs('2026-11-20')));

    expect(pages).toBe(13);
    expect(first).toMatchObject({ exitCode: 4, state: 'partial', truncated: 1, sent: 13 });
    expect(first.error).toMatch(
      /^the log was not read to its end: .*: the log repeats the cursor 2026-11-20T00:00:00\.000109Z; rows beyond it were not read$/,
    );
    expect(await mark(scene)).toBe(MIDNIGHT);
    expect(await gaps(scene)).toBe(1);
    expect(await extents(scene)).toEqual([{ extent: 'lower_bound' }]);

    isFixed = true;
    scene.clock.advance(1000);
    expect(only(await scene.sync(costs('2026-11-20')))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await gaps(scene)).toBe(0);
  });

  it.each([
    { page: 'page', odd: -1 },
    { page: 'page, with a row without its start,', odd: 50 },
  ])('that a log shows the same full $page for every cursor is not complete, and is read again', async ({ odd }) => {
    let ignoresCursor = true;
    const respond = ({ endpoint, body }: RespondRequest) => {
      if (endpoint !== 'token.requests') return undefined;
      const rows = pageOf(body, ignoresCursor) as object[];
      return { body: rows.map((row, at) => (ignoresCursor && at === odd ? { ...row, started_at: null } : row)) };
    };
    const scene = await sceneIn(await open(), { start: START, respond });

    const first = only(await scene.sync(costs('2026-11-20')));

    expect(first).toMatchObject({ exitCode: 4, state: 'partial', truncated: 1 });
    expect(first.error).toMatch(/^the log was not read to its end: .*the same full page for every cursor/);
    expect(await mark(scene)).toBe(MIDNIGHT);

    ignoresCursor = false;
    scene.clock.advance(1000);
    expect(only(await scene.sync(costs('2026-11-20')))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await loaded(scene)).toBe(250);
    expect(await gaps(scene)).toBe(0);
  });

  it('whose next page is answered with 412 is not complete, and its days are read again', async () => {
    let isGone = true;
    const respond = ({ endpoint, body }: RespondRequest) => {
      if (endpoint !== 'token.requests') return undefined;
      const { cursor } = body as { readonly cursor?: string | null };
      return isGone && cursor != null ? { status: 412, body: 'null' } : { body: pageOf(body) };
    };
    const scene = await sceneIn(await open(), { start: START, respond });

    const first = only(await scene.sync(costs('2026-11-20')));

    expect(first).toMatchObject({ exitCode: 4, state: 'partial', sent: 2, missing: 1, truncated: 1 });
    expect(first.error).toMatch(/^the log was not read to its end: .*: the service answered 412 to the next page/);
    expect(await mark(scene)).toBe(MIDNIGHT);
    expect(await gaps(scene)).toBe(1);

    isGone = false;
    scene.clock.advance(1000);
    expect(only(await scene.sync(costs('2026-11-20')))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await loaded(scene)).toBe(250);
    expect(await gaps(scene)).toBe(0);
  });

  it.each(['', ', max_age: 1d'])(
    'whose first page of a day is answered with 412 reads that day again (options: "%s")',
    async (maxAge) => {
      let isGone = true;
      const respond = ({ endpoint, body }: RespondRequest) => {
        if (endpoint !== 'token.requests') return undefined;
        const { start_time: start } = body as { readonly start_time?: string };
        return isGone && start === MIDNIGHT ? { status: 412, body: 'null' } : { body: pageOf(body) };
      };
      const scene = await sceneIn(await open(), { start: START, respond });
      const config = costs(`2026-11-18${maxAge}`);

      expect(only(await scene.sync(config))).toMatchObject({ missing: 1 });
      expect(await mark(scene)).toBe(MIDNIGHT);
      await scene.sync(config);
      expect(await mark(scene)).toBe(MIDNIGHT);

      isGone = false;
      scene.clock.advance(25 * 3_600_000);
      expect(only(await scene.sync(config))).toMatchObject({ exitCode: 0, state: 'complete' });
      expect(await loaded(scene)).toBe(250);
    },
  );

  it('that meets a page without any readable start is not complete, and its days are read again', async () => {
    let isOdd = true;
    const respond = ({ endpoint, body }: RespondRequest) => {
      if (endpoint !== 'token.requests') return undefined;
      const rows = pageOf(body) as object[];
      return { body: isOdd ? rows.map((row, at) => ({ ...row, started_at: 1_790_000_000 + at })) : rows };
    };
    const scene = await sceneIn(await open(), { start: START, respond });

    const first = only(await scene.sync(costs('2026-11-20')));

    expect(first).toMatchObject({ exitCode: 4, state: 'partial', sent: 1, quarantined: 0, truncated: 1 });
    expect(first.error).toMatch(/^the log was not read to its end: .*: no row of a page has a readable id and start/);
    expect(((await mark(scene)) ?? '') <= MIDNIGHT).toBe(true);
    expect(await gaps(scene)).toBe(1);

    isOdd = false;
    scene.clock.advance(1000);
    expect(only(await scene.sync(costs('2026-11-20')))).toMatchObject({ exitCode: 0, state: 'complete' });
    expect(await loaded(scene)).toBe(250);
    expect(await gaps(scene)).toBe(0);
  });

  it.each([
    { replay: 'a retry of the quarantine', options: { quarantined: true } },
    { replay: 'a rebuild', options: { rebuild: true } },
  ])(
    'that ended at an unreadable page stays a gap after $replay can read the page, until a run reads its days',
    async ({ options }) => {
      let isCut = true;
      const respond = ({ endpoint, body }: RespondRequest) =>
        endpoint === 'token.requests' ? { body: isCut ? '[{"id":' : pageOf(body) } : undefined;
      const scene = await sceneIn(await open(), { start: START, respond });
      const day = { from: '2026-11-20', to: '2026-11-20' };
      expect(only(await scene.sync(costs('2026-11-20'), day))).toMatchObject({ exitCode: 4, unreadable: 1 });
      isCut = false;
      await makeReadable(scene);

      expect(await scene.replay(options)).toMatchObject({ received: 100, quarantined: 0 });

      expect(await loaded(scene)).toBe(100);
      expect(await readStatus(scene.warehouse)).toMatchObject({
        syncs: [{ unreadable: 0, truncated: 1 }],
        lowerBounds: [{ returned: 100, reason: 'the pages that follow it were not read' }],
        gaps: [],
      });
      expect(await extents(scene)).toEqual([{ extent: 'lower_bound' }]);

      scene.clock.advance(DAY_MS);
      expect(only(await scene.sync(costs('2026-11-21')))).toMatchObject({ exitCode: 0, state: 'complete' });
      expect(await gaps(scene)).toBe(1);

      expect(only(await scene.sync(costs('2026-11-21'), day))).toMatchObject({ exitCode: 0, state: 'complete' });
      expect(await gaps(scene)).toBe(0);
      expect(await loaded(scene)).toBe(250);
    },
  );

  it('that ended at a page which a replay could read while its run was stopped is read again by the next run', async () => {
    let isBroken = true;
    const respond = ({ endpoint, body }: RespondRequest) => {
      if (endpoint !== 'token.requests') return undefined;
      const { start_time: start } = body as { readonly start_time?: string };
      if (isBroken) return start === MIDNIGHT ? { body: '[{"id":' } : { status: 500, body: '{}' };
      return { body: pageOf(body) };
    };
    const scene = await sceneIn(await open(), { start: '2026-11-21T12:00:00.000Z', respond });
    const yaml = costs('2026-11-20').replace('in_flight', 'retries: 0\n  in_flight');
    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 5, state: 'interrupted', unreadable: 1 });
    isBroken = false;
    await makeReadable(scene);
    await scene.replay({ quarantined: true });

    const second = only(await scene.sync(yaml));

    expect(second).toMatchObject({ exitCode: 4, state: 'partial', continued: true, unreadable: 0 });
    expect(second.error).toMatch(/: the pages that follow it were not read$/);
    expect(await mark(scene)).toBe(MIDNIGHT);
    expect(only(await scene.sync(yaml))).toMatchObject({ exitCode: 0, state: 'complete', continued: false });
    expect(await loaded(scene)).toBe(250);
    expect(await gaps(scene)).toBe(0);
  });
});
