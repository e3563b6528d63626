/** Whatever the service does, a sync ends as specified: ledger, stored answers, tables, reason and exit code. */
import { beforeAll, expect, it } from 'vitest';
import { decompressBody } from '../../src/ledger/compression.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { bodyCases } from './hostile-bodies.ts';
import { ENDS } from './hostile-case.ts';
import { hostileServer, ONE_CALL, syncFrom } from './hostile-server.ts';
import { CAP_BYTES, transportCases } from './hostile-transport.ts';
import { select } from './rows.ts';

interface Ledger {
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly body: Uint8Array | null;
  readonly sha256: string | null;
  readonly counts: string | null;
  readonly reason: string | null;
}

/** The request of the newest run, with what is kept of it. */
const LEDGER = `
  select r.state, r.attempts::int as attempts, r.error, a.body, a.encoding, a.sha256,
    concat_ws('=', a.received, a.loaded + a.unchanged + a.superseded + a.quarantined) as counts, q.reason
  from sluice_ops.requests r
  left join sluice_ops.answers a on a.id = r.answer_id
  left join sluice_ops.quarantine q on q.answer_id = a.id
  where r.endpoint <> 'token.requests' order by r.id desc limit 1`;

const bytesOf = async ({ body, encoding }: Ledger & { readonly encoding?: string }): Promise<Buffer> =>
  Buffer.from((await decompressBody(Buffer.from(body ?? ''), encoding ?? 'identity')) ?? []);

anyWarehouse('a service that', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });

  it.each([...transportCases, ...bodyCases].map((it) => [it.does, it] as const))(
    '%s',
    async (_, { answer, ends, because, kept, deadlineMs, row }) => {
      await select(warehouse, 'truncate sluice.microblog_users, sluice_ops.runs, sluice_ops.answers cascade');
      const server = await hostileServer(answer);
      const { state, exitCode, calls } = ENDS[ends];

      const { summary } = await syncFrom(server, warehouse, {
        maxBodyBytes: ends === 'tooLarge' ? CAP_BYTES : 2 ** 28,
        ...(deadlineMs !== undefined && { deadlineMs }),
      });

      expect(summary).toMatchObject({ exitCode, syncs: [{ exitCode }] });
      expect(server.calls()).toHaveLength(calls);
      const [request] = await select<Ledger>(warehouse, LEDGER);
      expect(request).toMatchObject({ state, attempts: calls });
      if (because) expect(request?.reason ?? request?.error).toMatch(because);
      if (kept) {
        expect(request && (await bytesOf(request)).equals(kept)).toBe(true);
        const [received, accounted] = (request?.counts ?? '').split('=');
        expect(received).toBe(accounted);
      } else expect(request?.body).toBeNull();
      const users = await select(warehouse, 'select *, extra::text from sluice.microblog_users');
      expect(users.length > 0).toBe(ends === 'loaded');
      if (row) expect(users).toMatchObject([Object.fromEntries(Object.entries(row))]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it.each([301, 302, 303, 307, 308])('redirects (%i) never learns where the token goes', async (status) => {
    const elsewhere = await hostileServer((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]'));
    const server = await hostileServer((socket) =>
      socket.write(
        `HTTP/1.1 ${status} Moved\r\nlocation: http://${elsewhere.host}/api/microblog/user\r\ncontent-length: 0\r\n\r\n`,
      ),
    );
    const yaml = ONE_CALL.replace('request: { user: ada,', 'for_each: { user: [ada, grace] }, request: {');

    const { summary } = await syncFrom(server, warehouse, { yaml });

    expect(summary).toMatchObject({
      exitCode: 4,
      syncs: [
        { sent: 1, next: `Check service.url; the service points to http://${elsewhere.host}/api/microblog/user.` },
      ],
    });
    expect(server.calls()).toHaveLength(1);
    expect(elsewhere.seen()).toBe('');
  });
});
