/** One redirect is an error of its input; an endpoint that begins with one is given up, and what was not sent is counted. */
import { expect, it } from 'vitest';
import { anyWarehouse } from '../support/warehouse.ts';
import { head, VALID, whole } from './hostile-case.ts';
import { type Answer, hostileServer, ONE_CALL, syncFrom } from './hostile-server.ts';
import { select } from './rows.ts';

const inputs = (count: number): string =>
  ONE_CALL.replace(
    'request: { user: ada,',
    `for_each: { user: [${Array.from({ length: count }, (_, n) => `user_${n}`).join(', ')}] }, request: {`,
  );
const moved: Answer = (socket) =>
  socket.write(head(302, { location: 'http://127.0.0.1:1/elsewhere', 'content-length': 0 }));
const forbidden: Answer = whole('{"detail":"your plan does not include this endpoint"}', {}, 403);
const fine: Answer = whole(VALID);
const STATES = 'select state, count(*)::int as n from sluice_ops.requests group by 1 order by 1';

anyWarehouse('an endpoint', (open) => {
  it('that redirects one input after it answered others gets further requests', async () => {
    const warehouse = await open();
    const server = await hostileServer(fine, fine, moved, fine);

    const { summary } = await syncFrom(server, warehouse, { yaml: inputs(8) });

    expect(summary).toMatchObject({ exitCode: 4, syncs: [{ sent: 8, answers: 7, failed: 1, left: 0 }] });
    expect(await select(warehouse, STATES)).toEqual([
      { state: 'failed', n: 1 },
      { state: 'loaded', n: 7 },
    ]);
    expect(
      await select(warehouse, `select failure_class, next from sluice_ops.requests where state = 'failed'`),
    ).toEqual([
      {
        failure_class: 'redirected',
        next: 'The endpoint answered other inputs: fix or remove this one, which the service points to http://127.0.0.1:1/elsewhere for.',
      },
    ]);
  });

  it('that answers 304 fails only that input, also as its first answer', async () => {
    const warehouse = await open();
    const server = await hostileServer((socket) => socket.write(head(304)), fine);

    const { summary } = await syncFrom(server, warehouse, { yaml: inputs(4) });

    expect(summary).toMatchObject({ exitCode: 4, syncs: [{ sent: 4, answers: 3, failed: 1, left: 0 }] });
  });

  it('that redirects from some answer on is given a rest and then left, with the rest still planned', async () => {
    const warehouse = await open();
    const server = await hostileServer(fine, moved);

    const { summary } = await syncFrom(server, warehouse, { yaml: inputs(60) });

    expect(summary).toMatchObject({ exitCode: 5, syncs: [{ sent: 25, failed: 24, left: 35 }] });
  });

  it.each([
    ['redirects', moved, /^the service redirected to another address \(302\)/],
    ['refuses the plan', forbidden, /^the service answered 403: your plan does not include this endpoint$/],
  ] as const)(
    'that %s at once is given up, and every request that was not sent is counted',
    async (_, answer, error) => {
      const warehouse = await open();
      const server = await hostileServer(answer);

      const { summary } = await syncFrom(server, warehouse, { yaml: inputs(84) });

      expect(summary).toMatchObject({ exitCode: 4, syncs: [{ planned: 84, sent: 1, failed: 1, left: 83 }] });
      expect(summary.syncs[0]?.error).toMatch(error);
      expect(await select(warehouse, 'select exit_code::int, error from sluice_ops.runs')).toEqual([
        { exit_code: 4, error: summary.syncs[0]?.error },
      ]);
    },
  );
});
