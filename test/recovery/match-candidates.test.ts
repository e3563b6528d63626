import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { reconcileCosts } from '../../src/recovery/reconcile/reconcile.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { expectedMatches, type LoggedRow, type SentRequest, type Span } from './candidate-oracle.ts';
import { BEGAN, ledgerRowsIn, type Sent } from './ledger-rows.ts';

const SECOND = 1000;
/** The tolerance without an identifier that shows the clock of the service. */
const TOLERANCE = 120 * SECOND;
const TIMEOUT = 300 * SECOND;

/** Requests sent and rows logged within so many milliseconds. */
const sentWithin = (ms: number) =>
  fc.record({
    at: fc.nat(ms),
    tookMs: fc.nat(400 * SECOND),
    endpoint: fc.constantFrom('pronet.group', 'pronet.user.education'),
    count: fc.option(fc.constantFrom(5, 10)),
    isAnswered: fc.boolean(),
    lost: fc.oneof(fc.constant([]), fc.array(fc.nat(ms), { maxLength: 2 })),
  });
const loggedWithin = (ms: number) =>
  fc.record({
    at: fc.nat(ms),
    endpoint: fc.constantFrom('/api/pronet/group', 'PRONET.GROUP?x', '/api/pronet/user/education', '/api/other'),
    count: fc.option(fc.nat(12)),
  });

const spansOf = ({
  at,
  tookMs,
  isAnswered,
  lost,
}: Pick<Required<Sent>, 'at' | 'tookMs' | 'isAnswered' | 'lost'>): Span[] => [
  [at - TOLERANCE, at + Math.min(isAnswered ? tookMs : TIMEOUT, TIMEOUT) + TOLERANCE],
  ...lost.map((it): Span => [it - TOLERANCE, it + 100 + TOLERANCE]),
];

anyWarehouse('matches of a random ledger', (open) => {
  it.each([
    ['few requests at a time', 20, 7200 * SECOND, ['ambiguous', 'gone', 'only_candidate']],
    ['many requests at a time', 40, 1200 * SECOND, ['ambiguous', 'gone']],
  ])(
    'are those of a comparison of every row with every request, also after more were added: %s',
    async (_, size, ms, kinds) => {
      const warehouse = await open();
      const ledgerRows = await ledgerRowsIn(warehouse);
      const requests: SentRequest[] = [];
      const rows: LoggedRow[] = [];
      let before: string[] = [];
      const seen = new Set<string>();
      for (const seed of [1, 2, 3]) {
        for (const request of fc.sample(sentWithin(ms), { seed, numRuns: size })) {
          const { endpoint, count, lost } = request;
          const { id } = await ledgerRows.send({ ...request, count: count ?? undefined });
          requests.push({ id, endpoint, count, attempts: 1 + lost.length, spans: spansOf(request) });
        }
        for (const row of fc.sample(loggedWithin(ms), { seed: -seed, numRuns: size })) {
          const endpoints = ['pronet.group', 'pronet.user.education'].filter((name) =>
            row.endpoint.toLowerCase().replaceAll('/', '.').includes(name),
          );
          rows.push({ ...row, id: await ledgerRows.log(row), endpoints });
        }
        await reconcileCosts(warehouse, { now: new Date(BEGAN + 24 * 3600 * SECOND) });

        const expected = [...expectedMatches(requests, rows)].map(([pair, kind]) => `${pair} ${kind}`).toSorted();
        expect(await ledgerRows.matches()).toEqual(expected);
        for (const it of expected) seen.add(it.replace(/^.* /, ''));
        if (before.some((it) => !expected.includes(it))) seen.add('gone');
        before = expected;
      }
      expect([...seen].toSorted()).toEqual(kinds);
    },
  );

  it('are found beside a row with a status that no HTTP answer has', async () => {
    const warehouse = await open();
    const ledgerRows = await ledgerRowsIn(warehouse);
    const { id } = await ledgerRows.send({ at: 0 });
    const logId = await ledgerRows.log({ at: 0, status: 2 ** 31 });
    await reconcileCosts(warehouse, { now: new Date(BEGAN) });
    expect(await ledgerRows.matches()).toEqual([`${id} ${logId} only_candidate`]);
  });
});
