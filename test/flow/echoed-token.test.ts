/** A service that quotes the token, in whatever encoding, leaves nothing of it in the ledger, the answers' headers, summaries and notices. */
import { expect, it } from 'vitest';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { ENCODINGS, givesAway } from '../support/encodings.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { head, VALID } from './hostile-case.ts';
import { type Answer, hostileServer, ONE_CALL, syncFrom } from './hostile-server.ts';
import { select } from './rows.ts';

/** Where an answer's words are kept. */
const KEPT = ['requests', 'runs', 'lost_answers', 'quarantine', 'alerts', 'coverage'];
const names = ENCODINGS.map((_, n) => `user_${n}`).join(', ');
const EACH = ONE_CALL.replace('request: { user: ada,', `for_each: { user: [${names}] }, request: {`);

const refusal = (echo: string): Answer => {
  const body = Buffer.from(`{"detail":"unknown token ${echo} in this call"}`);
  const headers = { 'x-error': `bad ${echo.replaceAll(/[^ -~]+/g, ' ')}`, 'content-length': body.length };
  return (socket) => socket.write(Buffer.concat([Buffer.from(head(422, headers)), body]));
};
const answer = (echo: string): Answer => {
  const headers = { 'x-echo': `<${echo.replaceAll(/[^ -~]+/g, ' ')}>`, 'content-length': VALID.length };
  return (socket) => socket.write(head(200, headers) + VALID.toString());
};

anyWarehouse('a service that quotes the token', (open) => {
  it.each([
    ['in refusals', refusal],
    ['in headers of answers', answer],
  ] as const)('%s gives nothing of it away', { timeout: 60_000 }, async (_, quoting) => {
    const warehouse = await open();
    const echoes = ENCODINGS.map(([, encode]) => quoting(encode(SANDBOX_TOKEN)));
    const server = await hostileServer(...(echoes as [Answer]));

    const { summary, notices } = await syncFrom(server, warehouse, { yaml: EACH });

    expect(server.calls()).toHaveLength(ENCODINGS.length);
    expect(server.seen()).toContain(SANDBOX_TOKEN);
    const rows = await Promise.all([
      ...KEPT.map((table) => select(warehouse, `select * from sluice_ops.${table}`)),
      select(warehouse, 'select headers from sluice_ops.answers order by id'),
    ]);
    const kept = [...rows, summary, notices];
    const texts = JSON.stringify(kept).match(/[^",]{8,}/g) ?? [];
    expect(texts.filter((text) => givesAway(text, SANDBOX_TOKEN))).toEqual([]);
    expect(JSON.stringify(kept).split('[secret]').length).toBeGreaterThan(ENCODINGS.length - 3);
  });
});
