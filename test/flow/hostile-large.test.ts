/** Large answers: up to the limits they load, beyond them they are refused, and neither takes the process with it. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { hostileServer, ONE_CALL, syncFrom } from './hostile-server.ts';
import { select } from './rows.ts';

const MB = 1_000_000;
/** Megabytes. */
const LARGE = countOf(60, 100);
const PAGE = ONE_CALL.replace(
  /user: \{ endpoint.*$/m,
  'page: { endpoint: webparser.parse, request: { url: "https://a.example/", timeout: 20 } } }',
);

/** A service that sends this text, a piece at a time. */
const sending = (pieces: () => Iterable<string>) =>
  hostileServer((socket) => {
    Readable.from(chunked(pieces())).pipe(socket, { end: false });
  });

function* chunked(pieces: Iterable<string>): Iterable<string> {
  yield 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  for (const piece of pieces) yield `${piece.length.toString(16)}\r\n${piece}\r\n`;
  yield '0\r\n\r\n';
}

function* page(megabytes: number): Iterable<string> {
  yield '[{"@type":"@web_parser_result","url":"https://a.example/","title":"t","cleaned_html":"';
  for (let index = 0; index < megabytes; index += 1) yield 'x'.repeat(MB);
  yield '"}]';
}

function* items(count: number): Iterable<string> {
  yield '[{}';
  for (let index = 1; index < count; index += 1) yield ',{}';
  yield ']';
}

const counts =
  'select received::int, loaded::int, quarantined::int, bytes::int, (select reason from sluice_ops.quarantine) as reason from sluice_ops.answers';

anyWarehouse('an answer', (open) => {
  it(`of ${LARGE} MB loads`, { timeout: 240_000 }, async () => {
    const warehouse = await open();
    const { summary } = await syncFrom(await sending(() => page(LARGE)), warehouse, {
      yaml: PAGE,
      deadlineMs: 100_000,
    });
    expect(summary).toMatchObject({ exitCode: 0, syncs: [{ received: 1, loaded: 1 }] });
    expect(await select(warehouse, 'select length(cleaned_html)::int as length from sluice.web_pages')).toEqual([
      { length: LARGE * MB },
    ]);
    expect(await select(warehouse, counts)).toMatchObject([
      { bytes: [...page(LARGE)].reduce((sum, piece) => sum + piece.length, 0) },
    ]);
  });

  it('of more than 128 MiB is refused while it arrives, and not requested again', { timeout: 240_000 }, async () => {
    const warehouse = await open();
    const server = await sending(() => page(400));
    const before = process.resourceUsage().maxRSS;
    const { summary } = await syncFrom(server, warehouse, { yaml: PAGE, deadlineMs: 100_000 });
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(400_000);
    expect(summary).toMatchObject({ exitCode: 4, syncs: [{ failed: 1, sent: 1 }] });
    expect(server.calls()).toHaveLength(1);
    // The lookup of its cost in the request log is a request too.
    const requests = "select state, error, failure_class from sluice_ops.requests where endpoint <> 'token.requests'";
    expect(await select(warehouse, requests)).toEqual([
      { state: 'failed', error: 'the answer is larger than 128 MiB', failure_class: 'too_large' },
    ]);
  });

  it('of more than 250,000 items is kept and quarantined completely', { timeout: 240_000 }, async () => {
    const warehouse = await open();
    const server = await sending(function* joined() {
      yield [...items(250_001)].join('');
    });
    const { summary } = await syncFrom(server, warehouse, { yaml: PAGE, deadlineMs: 100_000 });
    expect(summary).toMatchObject({ exitCode: 4, syncs: [{ received: 1, quarantined: 1 }] });
    expect(await select(warehouse, counts)).toEqual([
      {
        received: 1,
        loaded: 0,
        quarantined: 1,
        bytes: 750_004,
        reason: 'the body has 250001 items; at most 250000 are allowed',
      },
    ]);
  });
});
