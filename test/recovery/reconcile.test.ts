/** The reconciliation of the request log with the ledger: certain matches, possible ones, and their results. */
import { expect, it } from 'vitest';
import { readLogIdentifiers } from '../../src/ledger/match-log.ts';
import { recordDeletion } from '../../src/ledger/log-reads.ts';
import { readReconciliation, reconcileCosts } from '../../src/recovery/reconcile/reconcile.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from '../flow/rows.ts';
import { eachWarehouse, type Open } from '../support/warehouse.ts';
import { BEGAN, ledgerRowsIn } from './ledger-rows.ts';

const NOW = new Date(BEGAN + 24 * 3_600_000);
const SECOND = 1000;

async function begun(open: Open) {
  const warehouse = await open();
  const ledger = await ledgerRowsIn(warehouse);
  const reconcile = (since?: number) =>
    reconcileCosts(warehouse, { now: NOW, ...(since !== undefined && { since: new Date(BEGAN + since) }) });
  return { warehouse, ...ledger, reconcile, sums: () => readReconciliation(warehouse, NOW) };
}

const versions = (warehouse: Warehouse): Promise<unknown> =>
  select(
    warehouse,
    `select 'm' as t, xmin::text as v, ctid::text as at from sluice_ops.request_cost_matches
     union all select 'r', xmin::text, ctid::text from sluice_ops.requests union all select 'd', xmin::text, ctid::text from sluice_ops.lost_answers order by 1, 3`,
  );

const removeLog = ({ warehouse }: { readonly warehouse: Warehouse }): Promise<unknown> =>
  select(warehouse, 'delete from sluice.fact_request_costs returning id');

/** Shown on both kinds of warehouse. */
function usual(open: Open): void {
  it('is matched by our identifier, whatever the clocks and the words say; charges are settled, and again nothing changes', async () => {
    const it = await begun(open);
    const paid = await it.send({ at: 0, points: 10 });
    const free = await it.send({ at: SECOND, points: 10 });
    const open1 = await it.send({ at: 2 * SECOND, points: 10 });
    const asked = await it.send({ at: 3 * SECOND, points: 10, state: 'planned', isAnswered: false });
    const rows = [
      await it.log({ at: 600 * SECOND, identifier: paid.identifier, cost: 4, endpoint: 'elsewhere' }),
      await it.log({ at: 601 * SECOND, identifier: free.identifier, cost: 3, isPaid: false }),
      await it.log({ at: 602 * SECOND, identifier: open1.identifier, cost: 0, isComplete: false }),
      await it.log({ at: 603 * SECOND, identifier: asked.identifier, cost: 2 }),
    ];
    await it.log({ at: 604 * SECOND, identifier: 'someone else', cost: 9 });

    await it.reconcile();

    const ids = [paid, free, open1, asked].map(({ id }) => id);
    expect(await it.matches()).toEqual(ids.map((id, at) => `${id} ${rows[at]} identifier`).toSorted());
    expect(await it.requests()).toEqual([
      { id: paid.id, charged: 4, points: 4 },
      { id: free.id, charged: 0, points: 0 },
      // An incomplete row may still be charged, and a request that is sent again costs more.
      { id: open1.id, charged: null, points: 10 },
      { id: asked.id, charged: 2, points: 10 },
    ]);
    expect(await it.sums()).toMatchObject({
      logged: 5,
      matched: 4,
      ambiguous: 0,
      chargedButLost: { rows: 1, points: 2 },
      others: { rows: 1, points: 9 },
    });
    const before = await versions(it.warehouse);
    await it.reconcile();
    expect(await versions(it.warehouse)).toEqual(before);

    await select(
      it.warehouse,
      `update sluice.fact_request_costs set cost = 5, is_paid = true, duration = 1 where id = '${rows[2]}' returning id`,
    );
    await it.reconcile();
    expect((await it.requests())[2]).toEqual({ id: open1.id, charged: 5, points: 5 });
  });

  it('the row of a failed attempt does not settle a request that another attempt answered', async () => {
    const it = await begun(open);
    const failedOnce = await it.send({ at: 0, attempts: 2, points: 1 });
    await it.log({ at: 0, identifier: failedOnce.identifier, cost: 1, status: 500 });
    const refusedOnce = await it.send({ at: SECOND, attempts: 2, points: 1 });
    const onlyOne = await it.send({ at: 9 * SECOND, points: 5 });
    await it.log({ at: 9 * SECOND, identifier: onlyOne.identifier, cost: 2, status: 502 });
    await it.log({ at: SECOND, identifier: refusedOnce.identifier, cost: 0, status: 429 });

    await it.reconcile();
    expect(await it.requests()).toEqual([
      { id: failedOnce.id, charged: null, points: 1 },
      { id: refusedOnce.id, charged: null, points: 1 },
      // The log may describe the only attempt with another status.
      { id: onlyOne.id, charged: 2, points: 2 },
    ]);

    await it.log({ at: 2 * SECOND, identifier: failedOnce.identifier, cost: 1 });
    await it.log({ at: 3 * SECOND, identifier: refusedOnce.identifier, cost: 1 });
    await it.reconcile();
    expect(await it.requests()).toEqual([
      { id: failedOnce.id, charged: 2, points: 2 },
      { id: refusedOnce.id, charged: 1, points: 1 },
      { id: onlyOne.id, charged: 2, points: 2 },
    ]);
  });

  it('without identifiers, nothing is guessed: two requests at a time, two rows, a row between two, too many items', async () => {
    const it = await begun(open);
    const [a, b] = [await it.send({ at: 0 }), await it.send({ at: 1 })];
    const [first, second] = [await it.log({ at: 10 }), await it.log({ at: 11 })];
    const two = await it.send({ at: 3600 * SECOND });
    const rows = [await it.log({ at: 3600 * SECOND }), await it.log({ at: 3601 * SECOND })];
    const [left, right] = [await it.send({ at: 5000 * SECOND }), await it.send({ at: 5200 * SECOND })];
    const between = await it.log({ at: 5100 * SECOND });
    const few = await it.send({ at: 6500 * SECOND, count: 5 });
    const many = await it.log({ at: 6500 * SECOND, count: 6 });
    const late = await it.send({ at: 7000 * SECOND });
    await it.log({ at: 7121 * SECOND });

    await it.reconcile();

    const pairs = [a, b].flatMap(({ id }) => [first, second].map((row) => `${id} ${row} ambiguous`));
    expect(await it.matches()).toEqual(
      [
        ...pairs,
        ...rows.map((row) => `${two.id} ${row} ambiguous`),
        `${left.id} ${between} ambiguous`,
        `${right.id} ${between} ambiguous`,
      ].toSorted(),
    );
    expect((await it.matches()).join()).not.toContain(many);
    expect((await it.requests()).every(({ charged, points }) => charged === null && points === 1)).toBe(true);
    expect([few, late]).toHaveLength(2);
    expect(await it.sums()).toMatchObject({ logged: 7, matched: 0, ambiguous: 5, others: { rows: 2, points: 2 } });
  });

  it('assesses lost answers that no run requests any more: paid, not charged, not sent, and unknown', async () => {
    const it = await begun(open);
    const answered = await it.send({ at: 0 });
    await it.log({ at: 1, identifier: answered.identifier });
    const lost = (at: number) =>
      it.send({ at, lost: [at], attempts: 1, state: 'abandoned', isAnswered: false, points: 5 });
    const [paid, free, never] = [await lost(10 * SECOND), await lost(20 * SECOND), await lost(30 * SECOND)];
    await it.log({ at: 10 * SECOND, identifier: paid.identifier, cost: 3 });
    await it.log({ at: 20 * SECOND, identifier: free.identifier, cost: 0 });
    await it.reconcile();
    // Nothing says that the log was read so far.
    expect((await it.lostAnswers()).map(({ verdict }) => verdict)).toEqual(['paid_and_lost', 'not_charged', 'unknown']);
    await it.read(600 * SECOND);
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([
      { verdict: 'paid_and_lost', points: 3 },
      { verdict: 'not_charged', points: 0 },
      { verdict: 'not_sent', points: 0 },
    ]);
    expect((await it.requests()).slice(1)).toEqual([
      { id: paid.id, charged: 3, points: 3 },
      { id: free.id, charged: 0, points: 0 },
      { id: never.id, charged: null, points: 0 },
    ]);
    const before = await versions(it.warehouse);
    await it.reconcile();
    expect(await versions(it.warehouse)).toEqual(before);
  });
}

/** The statements are the same for both; what else they do is shown on a server. */
function further(open: Open): void {
  it('is matched by the identifier that the service sent with its answer, unless several share it', async () => {
    const it = await begun(open);
    const own = await it.send({ at: 0, header: 'theirs-1' });
    const endpoint = 'pronet.search.users';
    const [a, b] = [
      await it.send({ at: SECOND, header: 'edge', endpoint }),
      await it.send({ at: SECOND, header: 'edge', endpoint }),
    ];
    const row = await it.log({ at: 900 * SECOND, identifier: 'theirs-1' });
    const edge = await it.log({ at: 901 * SECOND, identifier: 'edge', endpoint: '/api/pronet/search/users' });
    await it.log({ at: 900 * SECOND, identifier: 'theirs-1', endpoint: '/api/microblog/user' });
    await it.reconcile();
    // The first shows how far the service's clock is ahead.
    expect(await it.matches()).toEqual(
      [`${own.id} ${row} identifier`, `${a.id} ${edge} ambiguous`, `${b.id} ${edge} ambiguous`].toSorted(),
    );
  });

  it.each([
    '/api/pronet/group',
    'api/pronet/group/',
    '/v2/proxy/api/pronet/group?x=1',
    'pronet.group',
    'PRONET/GROUP',
    'POST /api/pronet/group',
  ])('without identifiers, an only candidate is certain: endpoint written %s', async (endpoint) => {
    const it = await begun(open);
    const request = await it.send({ at: 0, count: 10 });
    const row = await it.log({ at: 90 * SECOND, endpoint, count: 10, cost: 2 });
    // A row of another program, of the same time.
    await it.log({ at: 0, endpoint: '/api/pronet/groups', count: 10 });
    await it.reconcile();
    expect(await it.matches()).toEqual([`${request.id} ${row} only_candidate`]);
    expect(await it.requests()).toEqual([{ id: request.id, charged: 2, points: 2 }]);
  });

  it('is matched by our identifier in capital letters too, and keeps it: other rows are of other programs', async () => {
    const it = await begun(open);
    const ours = await it.send({ at: 0, points: 10 });
    const row = await it.log({ at: SECOND, identifier: ours.identifier.toUpperCase(), cost: 4 });
    await it.log({ at: 2 * SECOND, identifier: 'someone else', cost: 9 });

    await it.reconcile();

    expect(await it.matches()).toEqual([`${ours.id} ${row} identifier`]);
    expect(await it.requests()).toEqual([{ id: ours.id, charged: 4, points: 4 }]);
    expect(await readLogIdentifiers(it.warehouse)).toMatchObject({ areKept: true });
    expect(await it.sums()).toMatchObject({ matched: 1, others: { rows: 1, points: 9 } });
  });

  it('adds a second charge and a refund with our identifier, also if they appear after the first charge was settled', async () => {
    const it = await begun(open);
    const paid = await it.send({ at: 0, points: 4 });
    const first = await it.log({ at: 0, identifier: paid.identifier, cost: 4 });
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: paid.id, charged: 4, points: 4 }]);

    const second = await it.log({ at: 600 * SECOND, identifier: paid.identifier, cost: 4 });
    await it.reconcile(500 * SECOND);
    expect(await it.matches()).toEqual([first, second].map((row) => `${paid.id} ${row} identifier`).toSorted());
    expect(await it.requests()).toEqual([{ id: paid.id, charged: 8, points: 8 }]);

    await it.log({ at: 700 * SECOND, identifier: paid.identifier, cost: -4, isPaid: true });
    await it.reconcile(650 * SECOND);
    expect(await it.requests()).toEqual([{ id: paid.id, charged: 4, points: 4 }]);
    expect(await it.sums()).toMatchObject({ matched: 3, others: { rows: 0, points: 0 } });
  });

  it('has as many rows as a request had attempts', async () => {
    const it = await begun(open);
    const request = await it.send({ at: 5 * SECOND, lost: [0] });
    const rows = [await it.log({ at: 0, cost: 2 }), await it.log({ at: 5 * SECOND, cost: 3 })];
    await it.reconcile();
    expect(await it.matches()).toEqual(rows.map((row) => `${request.id} ${row} only_candidate`).toSorted());
    expect(await it.lostAnswers()).toEqual([{ verdict: 'paid_and_lost', points: 2 }]);
    expect(await it.requests()).toEqual([{ id: request.id, charged: 5, points: 5 }]);
    // Two paid rows, one answer: the first was lost.
    expect(await it.sums()).toMatchObject({ matched: 2, chargedButLost: { rows: 1, points: 2 } });
  });

  it('does not count charged failures as lost answers, neither before an answer nor without one', async () => {
    const it = await begun(open);
    const second = await it.send({ at: SECOND, attempts: 2 });
    await it.log({ at: 0, identifier: second.identifier, cost: 4, status: 503 });
    await it.log({ at: SECOND, identifier: second.identifier, cost: 2 });
    const unknown = await it.send({ at: 2 * SECOND, state: 'failed', isAnswered: false });
    await it.log({ at: 2 * SECOND, identifier: unknown.identifier, cost: 3, status: 404 });
    const lost = await it.send({ at: 4 * SECOND, lost: [3 * SECOND], isAnswered: true });
    await it.log({ at: 3 * SECOND, identifier: lost.identifier, cost: 5 });
    await it.log({ at: 4 * SECOND, identifier: lost.identifier, cost: 6 });
    await it.reconcile();
    expect(await it.sums()).toMatchObject({ matched: 5, chargedButLost: { rows: 1, points: 5 } });
    const sums = 'sum(lost)::int as lost, sum(lost_points)::int as points';
    expect(await select(it.warehouse, `select ${sums} from sluice.daily_reconciliation`)).toEqual([
      { lost: 1, points: 5 },
    ]);
    expect(
      await select(it.warehouse, 'select kind, points::int as points from sluice.charged_failures order by points'),
    ).toEqual([
      { kind: 'failed', points: 3 },
      { kind: 'failed', points: 4 },
      { kind: 'lost', points: 5 },
    ]);
  });

  it('charges a request that was sent again once its answer has a row beside that of the lost attempt', async () => {
    const it = await begun(open);
    const request = await it.send({ at: 0, lost: [0], attempts: 1, state: 'in_doubt', isAnswered: false });
    await it.log({ at: 0, identifier: request.identifier, cost: 3 });
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: 3, points: 3 }]);
    await it.sendAgain(request, 10 * SECOND);

    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: null, points: 8 }]);

    await it.log({ at: 10 * SECOND, identifier: request.identifier, cost: 4 });
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: 7, points: 7 }]);
  });

  it('charges a request that failed once each attempt has a row', async () => {
    const it = await begun(open);
    const failed = { attempts: 2, state: 'failed', isAnswered: false, points: 2 } as const;
    const request = await it.send({ at: 10 * SECOND, ...failed });
    await it.log({ at: 0, identifier: request.identifier, cost: 3 });
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: null, points: 2 }]);

    await it.log({ at: 10 * SECOND, identifier: request.identifier, cost: 4 });
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: 7, points: 7 }]);
  });

  it('charges what a lost attempt cost also once its row has left the log', async () => {
    const it = await begun(open);
    const request = await it.send({ at: 0, lost: [0], attempts: 1, state: 'in_doubt', isAnswered: false });
    await it.log({ at: 0, identifier: request.identifier, cost: 3 });
    await it.reconcile();
    await removeLog(it);
    await it.sendAgain(request, 10 * SECOND);
    await it.log({ at: 10 * SECOND, identifier: request.identifier, cost: 4 });

    await it.reconcile();

    expect(await it.requests()).toEqual([{ id: request.id, charged: 7, points: 7 }]);
  });

  it('keeps a charge whose rows have left it, whatever is decided about other attempts later', async () => {
    const it = await begun(open);
    const request = await it.send({ at: 200 * SECOND, lost: [0] });
    await it.log({ at: 200 * SECOND, identifier: request.identifier, cost: 4 });
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: 4, points: 1 }]);
    await removeLog(it);

    await it.reconcile();

    expect(await it.lostAnswers()).toEqual([{ verdict: 'unknown', points: null }]);
    expect(await it.requests()).toEqual([{ id: request.id, charged: 4, points: 1 }]);
  });

  it('where our identifiers are kept, matches by time only what has none yet, by the service’s clock', async () => {
    const it = await begun(open);
    const skew = 400 * SECOND;
    const known = await it.send({ at: 0 });
    await it.log({ at: skew, identifier: known.identifier });
    const [lost, other] = [
      await it.send({ at: 100 * SECOND, state: 'abandoned', isAnswered: false }),
      await it.send({ at: 900 * SECOND, state: 'abandoned', isAnswered: false }),
    ];
    const underWay = await it.log({ at: 101 * SECOND + skew, cost: 0, isComplete: false });
    await it.log({ at: 100 * SECOND + skew, identifier: 'of another program' });
    // It has ended, so it may be of a program that sends no identifiers, or of our call that broke off.
    const ended = await it.log({ at: 900 * SECOND + skew, identifier: null });
    await it.reconcile();
    const mine = (await it.matches()).filter((it) => !it.endsWith('identifier'));
    expect(mine).toEqual([`${lost.id} ${underWay} only_candidate`, `${other.id} ${ended} ambiguous`].toSorted());

    // The row gets its identifier at its end, which shows that it belongs to another program.
    await select(
      it.warehouse,
      `update sluice.fact_request_costs set response_request_id = '${other.identifier}', duration = 1 where id = '${underWay}' returning id`,
    );
    await it.reconcile();
    expect((await it.matches()).filter((it) => it.includes(underWay))).toEqual([`${other.id} ${underWay} identifier`]);
  });

  it('does not show that a lost attempt never arrived while a row without an identifier may be its row', async () => {
    const it = await begun(open);
    const known = await it.send({ at: 0 });
    await it.log({ at: 0, identifier: known.identifier });
    const lost = { attempts: 1, state: 'abandoned', isAnswered: false, points: 5 };
    const request = await it.send({ at: 100 * SECOND, lost: [100 * SECOND], ...lost });
    await it.log({ at: 101 * SECOND, identifier: null, cost: 3 });
    await it.read(600 * SECOND);
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'unknown', points: null }]);
    expect((await it.requests())[1]).toEqual({ id: request.id, charged: null, points: 5 });
    expect((await it.requests())[0]).toEqual({ id: known.id, charged: 1, points: 1 });

    await it.log({ at: 100 * SECOND, identifier: request.identifier, cost: 4 });
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'paid_and_lost', points: 4 }]);
    expect((await it.requests())[1]).toEqual({ id: request.id, charged: 4, points: 4 });
  });

  it('counts what it charges later for a lost attempt of a request that waits to be sent again', async () => {
    const it = await begun(open);
    const request = await it.send({ at: 0, points: 0, attempts: 1, state: 'planned', isAnswered: false, lost: [0] });
    const row = await it.log({ at: 100, identifier: request.identifier, cost: 0 });
    await select(
      it.warehouse,
      `update sluice_ops.lost_answers set verdict = 'not_charged', points = 0, log_id = '${row}', settled_at = now() returning 1`,
    );
    await it.reconcile();
    expect(await it.requests()).toEqual([{ id: request.id, charged: 0, points: 0 }]);

    await select(
      it.warehouse,
      `update sluice.fact_request_costs set cost = 9, is_paid = true where id = '${row}' returning 1`,
    );
    await it.reconcile();

    expect(await it.requests()).toEqual([{ id: request.id, charged: 9, points: 9 }]);
    expect(await it.lostAnswers()).toEqual([{ verdict: 'paid_and_lost', points: 9 }]);

    await select(it.warehouse, `update sluice.fact_request_costs set is_paid = false where id = '${row}' returning 1`);
    await it.reconcile();

    expect(await it.lostAnswers()).toEqual([{ verdict: 'not_charged', points: 0 }]);
  });

  it('keeps what it charged for a lost attempt if the row ends without an identifier', async () => {
    const it = await begun(open);
    const known = await it.send({ at: 0 });
    await it.log({ at: 0, identifier: known.identifier });
    const lost = { attempts: 1, state: 'abandoned', isAnswered: false, points: 5 };
    const request = await it.send({ at: 100 * SECOND, lost: [100 * SECOND], ...lost });
    const row = await it.log({ at: 100 * SECOND, identifier: null, cost: 3, isComplete: false });
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'paid_and_lost', points: 3 }]);

    await select(it.warehouse, `update sluice.fact_request_costs set duration = 1 where id = '${row}' returning id`);
    await it.reconcile();

    expect(await it.lostAnswers()).toEqual([{ verdict: 'paid_and_lost', points: 3 }]);
    expect((await it.requests())[1]).toMatchObject({ id: request.id, points: 3 });
  });

  it.each([
    { name: 'no identifier', identifier: null, isKept: false },
    { name: 'an identifier', identifier: 'of another program', isKept: true },
  ])('of which the newest rows have $name: our identifiers are kept is $isKept', async ({ identifier, isKept }) => {
    const it = await begun(open);
    const known = await it.send({ at: 0 });
    await it.log({ at: 0, identifier: known.identifier });
    await it.reconcile();
    const minute = 60 * SECOND;
    const later = await Promise.all([10, 20, 30, 40, 50].map((at) => it.send({ at: at * minute, points: 5 })));
    const rowAt = (at: number) => it.log({ at: at * minute, identifier, cost: 2 });
    for (const at of [10, 20, 30, 40]) await rowAt(at);
    await it.reconcile();
    // Four rows may be of another program.
    expect((await it.requests()).filter(({ charged }) => charged === 2)).toEqual([]);
    await rowAt(50);

    await it.reconcile();

    const charged = { charged: isKept ? null : 2, points: isKept ? 5 : 2 };
    expect((await it.requests()).slice(1)).toEqual(
      later.map(({ id }) => ({ id, ...charged })).toSorted((a, b) => Number(a.id) - Number(b.id)),
    );
  });

  it('keeps our identifiers if another program has the newest rows and sends none', async () => {
    const it = await begun(open);
    const known = await it.send({ at: 0 });
    await it.log({ at: 0, identifier: known.identifier });
    for (let at = 1; at <= 5; at += 1) await it.send({ at: at * SECOND, endpoint: 'pronet.user.education' });
    const seen = await it.send({ at: 600 * SECOND });
    await it.log({ at: 600 * SECOND, identifier: seen.identifier });
    const request = await it.send({ at: 1200 * SECOND, points: 5 });
    await it.log({ at: 1200 * SECOND, identifier: null, cost: 9 });
    for (let at = 3000; at < 3010; at += 1) await it.log({ at: at * SECOND, identifier: null, cost: 9 });

    await it.reconcile();

    expect((await it.requests()).at(-1)).toEqual({ id: request.id, charged: null, points: 5 });
  });

  it('keeps our identifiers also while the rows that showed it have left it: no row of another program is ours', async () => {
    const it = await begun(open);
    const earlier = await it.send({ at: 0 });
    await it.log({ at: 0, identifier: earlier.identifier });
    await it.reconcile();
    await removeLog(it);
    const request = await it.send({ at: 100 * SECOND, points: 5 });
    await it.log({ at: 101 * SECOND, identifier: 'of another program', cost: 9 });

    await it.reconcile();

    expect((await it.requests())[1]).toEqual({ id: request.id, charged: null, points: 5 });
  });

  it.each(['of another program', null])(
    'charges what the row with our identifier says, also if a row with %s was the only candidate before',
    async (identifier) => {
      const it = await begun(open);
      const request = await it.send({ at: 100 * SECOND, points: 5 });
      await it.log({ at: 95 * SECOND, identifier, cost: 9 });
      await it.reconcile();
      expect(await it.requests()).toEqual([{ id: request.id, charged: 9, points: 9 }]);
      const own = await it.log({ at: 100 * SECOND, identifier: request.identifier, cost: 4 });

      await it.reconcile();

      expect(await it.matches()).toEqual([`${request.id} ${own} identifier`]);
      expect(await it.requests()).toEqual([{ id: request.id, charged: 4, points: 4 }]);
    },
  );

  it('charges only the rows with our identifier once each attempt has one, whatever was matched by order before', async () => {
    const it = await begun(open);
    const request = await it.send({ at: 100 * SECOND, points: 5 });
    const row = await it.log({ at: 101 * SECOND, identifier: null, cost: 9 });
    const inOrder = { offsetMs: 0, sentSince: new Date(BEGAN), loggedSince: undefined };
    const beside = await it.send({ at: 100 * SECOND, points: 5 });
    await it.log({ at: 102 * SECOND, identifier: null, cost: 8 });
    await reconcileCosts(it.warehouse, { now: NOW, inOrder });
    expect(await it.matches()).toContain(`${request.id} ${row} in_order`);
    const own = await it.log({ at: 100 * SECOND, identifier: request.identifier, cost: 4 });

    await it.reconcile();

    expect((await it.matches()).filter((match) => match.startsWith(`${request.id} `))).toEqual([
      `${request.id} ${own} identifier`,
    ]);
    expect(await it.requests()).toEqual([
      { id: request.id, charged: 4, points: 4 },
      { id: beside.id, charged: 8, points: 8 },
    ]);
  });

  it('gives a late row to the request that is left, but not as certain, if others beside it were matched by order', async () => {
    const it = await begun(open);
    const [first, second] = [await it.send({ at: 0 }), await it.send({ at: SECOND })];
    const early = await it.log({ at: 100, cost: 3 });
    await select(
      it.warehouse,
      `insert into sluice_ops.request_cost_matches (request_id, log_id, match_kind, matched_at)
       values (${second.id}, '${early}', 'in_order', now()) returning 1`,
    );
    const late = await it.log({ at: SECOND + 100, cost: 4 });

    await it.reconcile();

    expect(await it.matches()).toEqual([`${first.id} ${late} in_order`, `${second.id} ${early} in_order`]);
    expect((await it.requests()).map(({ charged }) => charged)).toEqual([4, 3]);
    expect(await it.sums()).toMatchObject({ matched: 0, ambiguous: 2, others: { rows: 0 } });
  });

  it('gives a row to one request: the nearest, should several have been sent with one identifier', async () => {
    const it = await begun(open);
    const [first, second] = [await it.send({ at: 0 }), await it.send({ at: 60 * SECOND })];
    await select(
      it.warehouse,
      `update sluice_ops.requests set x_request_id = '${first.identifier}' where id = ${second.id} returning id`,
    );
    const rows = [
      await it.log({ at: 1, identifier: first.identifier }),
      await it.log({ at: 59 * SECOND, identifier: first.identifier }),
    ];
    await it.reconcile();
    const pairs = [`${first.id} ${rows[0]} identifier`, `${second.id} ${rows[1]} identifier`].toSorted();
    expect(await it.matches()).toEqual(pairs);
    await it.reconcile();
    expect(await it.matches()).toEqual(pairs);
  });

  it('resolves what was ambiguous once more is known', async () => {
    const it = await begun(open);
    const [a, b] = [await it.send({ at: 0 }), await it.send({ at: 1 })];
    const row = await it.log({ at: 10 });
    await it.reconcile();
    expect(await it.matches()).toEqual([a, b].map(({ id }) => `${id} ${row} ambiguous`).toSorted());
    await select(
      it.warehouse,
      `update sluice.fact_request_costs set response_request_id = '${b.identifier}' where id = '${row}' returning id`,
    );
    await it.reconcile();
    expect(await it.matches()).toEqual([`${b.id} ${row} identifier`]);
  });

  it('lists answers that are not in it, for the time that was read completely', async () => {
    const it = await begun(open);
    await it.send({ at: 0 });
    await it.send({ at: 100 * SECOND });
    await it.send({ at: 1000 * SECOND });
    const logged = await it.send({ at: 200 * SECOND });
    await it.log({ at: 200 * SECOND, identifier: logged.identifier });
    expect(await it.sums()).toMatchObject({ unlogged: 0 });
    await it.read(900 * SECOND);
    await it.reconcile();
    expect(await it.sums()).toMatchObject({ unlogged: 2, matched: 1 });
  });

  it.each([
    { scope: 'range', body: { start_time: '2026-03-04T00:00:00Z', end_time: '2026-03-06T00:00:00Z' } },
    { scope: 'range', body: { end_time: '2026-03-06T00:00:00Z' } },
    { scope: 'failed', body: { start_time: '2026-03-06T00:00:00Z', cursor: '2026-03-06T11:00:00Z' } },
  ])('of which a run of scope $scope read $body proves nothing about other times', async (part) => {
    const it = await begun(open);
    const logged = await it.send({ at: 0 });
    await it.log({ at: 1, identifier: logged.identifier });
    await it.send({ at: 10 * SECOND, lost: [10 * SECOND], attempts: 1, state: 'abandoned', isAnswered: false });
    await it.send({ at: 20 * SECOND });
    await it.read(900 * SECOND, part);

    await it.reconcile();

    expect(await it.lostAnswers()).toEqual([{ verdict: 'unknown', points: null }]);
    expect(await it.sums()).toMatchObject({ unlogged: 0 });
    await it.read(900 * SECOND, { scope: 'range', body: { start_time: '2026-03-06T00:00:00Z' } });
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'not_sent', points: 0 }]);
    expect(await it.sums()).toMatchObject({ unlogged: 1 });
  });

  it('does not show that an attempt never arrived whose row it had while its request was under way', async () => {
    const it = await begun(open);
    const other = await it.send({ at: SECOND });
    const request = await it.send({ at: 20 * SECOND, lost: [10 * SECOND] });
    await it.log({ at: SECOND, identifier: other.identifier });
    const underWay = await it.log({ at: 10 * SECOND, identifier: request.identifier, cost: 0, isComplete: false });
    await it.log({ at: 20 * SECOND, identifier: request.identifier });
    await it.read(60 * SECOND);
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'unknown', points: null }]);

    await select(it.warehouse, `delete from sluice.fact_request_costs where id = '${underWay}' returning id`);
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'unknown', points: null }]);
  });

  it('proves no absence by a read whose rows were deleted, and proves it by a later one', async () => {
    const it = await begun(open);
    const known = await it.send({ at: 0 });
    await it.send({ at: 10 * SECOND, lost: [10 * SECOND], attempts: 1, state: 'abandoned', isAnswered: false });
    await it.read(600 * SECOND, { sync: 'others:log' });
    await it.warehouse.db.transaction().execute((db) => recordDeletion({ db, ops: it.warehouse.ops }, NOW));
    // The row of the other request is there, and the one of the lost attempt may have been.
    await it.log({ at: 1, identifier: known.identifier });
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'unknown', points: null }]);

    await it.read(900 * SECOND, { sync: 'others:log' });
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([{ verdict: 'not_sent', points: 0 }]);
  });

  it('corrects the verdict that an attempt never arrived once its row appears, and no other one', async () => {
    const it = await begun(open);
    const known = await it.send({ at: 0 });
    await it.log({ at: 0, identifier: known.identifier });
    const again = await it.send({ at: 200 * SECOND, lost: [190 * SECOND] });
    await it.log({ at: 200 * SECOND, identifier: again.identifier });
    const lost = { lost: [300 * SECOND], attempts: 1, state: 'abandoned', isAnswered: false, points: 5 };
    const request = await it.send({ at: 300 * SECOND, ...lost });
    await it.read(1200 * SECOND);
    await it.reconcile();
    const absent = { verdict: 'not_sent', points: 0 };
    expect(await it.lostAnswers()).toEqual([absent, absent]);
    expect((await it.requests()).at(-1)).toEqual({ id: request.id, charged: null, points: 0 });
    const before = await versions(it.warehouse);
    await it.reconcile();
    expect(await versions(it.warehouse)).toEqual(before);

    await it.log({ at: 300 * SECOND, identifier: request.identifier, cost: 3 });
    await it.reconcile();
    expect(await it.lostAnswers()).toEqual([absent, { verdict: 'paid_and_lost', points: 3 }]);
    expect((await it.requests()).at(-1)).toEqual({ id: request.id, charged: 3, points: 3 });
  });

  it('is summed up by run once the run has ended', async () => {
    const it = await begun(open);
    await it.send({ at: 0, points: 1 });
    const refused = await it.send({ at: SECOND, points: 10, state: 'failed', isAnswered: false });
    await it.log({ at: SECOND, identifier: refused.identifier, cost: 4 });
    const runs = (): Promise<unknown> => select(it.warehouse, 'select points::int as points from sluice_ops.runs');
    await select(
      it.warehouse,
      "update sluice_ops.runs set points = 11, state = 'running', ended_at = null returning id",
    );
    await it.reconcile();
    expect(await runs()).toEqual([{ points: 11 }]);
    await select(it.warehouse, "update sluice_ops.runs set state = 'complete', ended_at = now() returning id");
    await select(it.warehouse, "update sluice_ops.requests set points = 10 where state = 'failed' returning id");
    await it.reconcile();
    expect(await it.requests()).toContainEqual({ id: refused.id, charged: 4, points: 4 });
    expect(await runs()).toEqual([{ points: 5 }]);
    expect(await select(it.warehouse, 'select ledger_points::int as points from sluice.run_costs')).toEqual([
      { points: 5 },
    ]);
  });

  it('does not list the requests that read it, so none of them is missed by day', async () => {
    const it = await begun(open);
    await it.send({ at: 0 });
    await it.send({ at: SECOND, endpoint: 'token.requests', points: 0 });
    const logged = await it.send({ at: 200 * SECOND });
    await it.log({ at: 200 * SECOND, identifier: logged.identifier });
    await it.reconcile();
    expect(
      await select(
        it.warehouse,
        'select asked::int as asked, unlogged::int as unlogged from sluice.daily_reconciliation',
      ),
    ).toEqual([{ asked: 2, unlogged: 1 }]);
  });

  it('was never read: there is nothing to report', async () => {
    const it = await begun(open);
    await it.send({ at: 0 });
    await it.reconcile();
    expect(await it.sums()).toBeUndefined();
  });

  it('was read and had no row: nothing that was answered is listed', async () => {
    const it = await begun(open);
    await it.send({ at: 0 });
    await it.read(1200 * SECOND);
    await it.reconcile();
    expect(await it.sums()).toMatchObject({ logged: 0, matched: 0, unlogged: 1, others: { rows: 0, points: 0 } });
  });

  it('gone through from an instant on leaves what is older as it was, and sees what reaches over', async () => {
    const it = await begun(open);
    const hour = 3600 * SECOND;
    const old = await it.send({ at: 0 });
    const oldRow = await it.log({ at: 0 });
    const [before, after] = [
      await it.send({ at: 3 * hour - 60 * SECOND }),
      await it.send({ at: 3 * hour + 10 * SECOND }),
    ];
    const row = await it.log({ at: 3 * hour });
    await select(it.warehouse, 'update sluice_ops.runs set ended_at = null where id > 0 returning id');
    await it.reconcile(3 * hour);
    expect(await it.matches()).toEqual([before, after].map(({ id }) => `${id} ${row} ambiguous`).toSorted());
    await it.reconcile();
    expect(await it.matches()).toContain(`${old.id} ${oldRow} only_candidate`);
    const all = await it.matches();
    await it.reconcile(3 * hour);
    expect(await it.matches()).toEqual(all);
  });

  it('with more candidates than are listed, lists one for all of them', async () => {
    const it = await begun(open);
    for (let n = 0; n < 12; n += 1) await it.send({ at: n });
    await it.log({ at: 5 });
    await it.reconcile();
    expect(await it.matches()).toEqual([expect.stringMatching(/ ambiguous$/)]);
    expect(await it.sums()).toMatchObject({ ambiguous: 1, others: { rows: 0 } });
  });
}

eachWarehouse('the request log', (open, kind) => {
  usual(open);
  if (kind === 'postgres') further(open);
});
