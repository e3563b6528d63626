/** The SQL page over a real socket: results, limits, CSV, refusals and cancellation. */
import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { ask, formToken, openConsole, sendForm, textOf } from './open-console.ts';

eachWarehouse('the SQL page', (openWarehouse, kind) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await openWarehouse();
    await sql`insert into sluice_ops.leases values ('kept', 'me', 1, now(), now())`.execute(warehouse.db);
  });

  it('shows a result, keeps the statement in the form, and distinguishes null from its text', async () => {
    const console = await openConsole(warehouse);
    const statement =
      "select 1 as number,\n\tnull as nothing, 'null' as text, '{\"a\": [1]}'::jsonb as data, '2026-01-02 03:04:05+00'::timestamptz as at -- <end>";
    const { status, body } = await sendForm(console, { statement });
    expect(status).toBe(200);
    expect(textOf(body)).toMatch(
      /1 row Rows number nothing text data at 1 null null \{"a":\[1\]\} 2026-01-02T03:04:05Z/,
    );
    expect(body.match(/class="quiet">null</g)).toHaveLength(1);
    expect(body).toContain(
      `>\n${statement.replaceAll("'", '&#39;').replaceAll('"', '&quot;').replace('<end>', '&lt;end&gt;')}</textarea>`,
    );
  });

  it('shows the first 200 rows, with long values cut, and says so; the CSV has all rows with exact values', async () => {
    const console = await openConsole(warehouse);
    const statement = `select g as number, repeat('x', 1000) as long from generate_series(1, 250) g`;
    const { body } = await sendForm(console, { statement });
    expect(textOf(body)).toContain('The first 200 rows; the CSV contains all rows.');
    expect(body.match(/<th scope="row"/g)).toHaveLength(200);
    expect(body).toContain(`${'x'.repeat(300)}…`);
    expect(body).not.toContain('x'.repeat(301));
    const file = await sendForm(console, { statement, as: 'csv' });
    expect(file).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="query.csv"',
        'x-content-type-options': 'nosniff',
      },
    });
    const lines = file.body.split('\n');
    expect(lines[0]).toBe('number,long');
    expect(lines.slice(1, -1)).toEqual(Array.from({ length: 250 }, (_, at) => `${at + 1},${'x'.repeat(1000)}`));
    expect((await sendForm(console, { statement: 'select 1 as a where false', as: 'csv' })).body).toBe('a\n');
  });

  it.each([
    ['delete from sluice_ops.leases', 'A query must not begin with DELETE.'],
    ['with x as (delete from sluice_ops.leases returning 1) select * from x', 'data-modifying statement in WITH'],
    ['select 1; drop table sluice_ops.leases', 'several statements'],
    [`select nextval('sluice_ops.runs_id_seq')`, 'The database refuses the query'],
    ['select * from sluice_ops.leases for update', 'The query would change data'],
    [`select set_config('transaction_read_only', 'off', false)`, 'set'],
    ['', 'The query is empty.'],
    ['select * from sec_filing', 'Did you mean sec_filings?'],
    ['select\n nonsense', '(line 2, column 2 of the query)'],
  ])('%j is refused as by sluice query, as a page and as CSV, and changes nothing', async (statement, message) => {
    const console = await openConsole(warehouse);
    for (const as of ['table', 'csv']) {
      const { status, headers, body } = await sendForm(console, { statement, as });
      expect({ status, type: headers['content-type'] }).toEqual({ status: 400, type: 'text/html; charset=utf-8' });
      expect(textOf(body)).toContain(message);
    }
    expect((await sql`select name, token from sluice_ops.leases`.execute(warehouse.db)).rows).toEqual([
      { name: 'kept', token: '1' },
    ]);
    expect((await ask(console, `/sql?statement=${encodeURIComponent(statement)}`)).status).toBe(200);
    expect(console.failures).toEqual([]);
  });

  it('an error in the middle of a CSV breaks the download off', async () => {
    const console = await openConsole(warehouse);
    const broken = sendForm(console, {
      statement: 'select 1 / (g - 50000) as n from generate_series(1, 60000) g',
      as: 'csv',
    });
    await expect(broken).rejects.toThrow();
    expect((await sendForm(console, { statement: 'select 1' })).status).toBe(200);
  });

  it('a CSV is sent while it is read, and a client that does not take it ends the statement', async () => {
    const console = await openConsole(warehouse, { mostTakeMs: 50 });
    const token = await formToken(console);
    const body = new URLSearchParams({
      token,
      as: 'csv',
      statement: `select repeat('x', 100000) as long from generate_series(1, 100000)`,
    }).toString();
    const request = openRequest(`${console.url}/sql`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // It is read no further than the buffers of the sockets reach, and then given up.
    response.pause();
    const ended = once(response, 'error');
    // An embedded warehouse has one session, so this waits for the end of the other statement.
    expect((await sendForm(console, { statement: 'select 1' })).status).toBe(200);
    const reading = sql`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and state <> 'idle' and query like '%sluice_read%'`;
    if (kind === 'postgres') while ((await reading.execute(warehouse.db)).rows.length > 0);
    response.resume();
    await ended;
  });

  if (kind === 'postgres')
    it.each(['table', 'csv'])('a statement is cancelled when its client disconnects, as %s', async (as) => {
      const console = await openConsole(warehouse);
      const sleeping = async (): Promise<number> =>
        (
          await sql`select from pg_stat_activity where query like '%sluice_read%' and wait_event = 'PgSleep'`.execute(
            warehouse.db,
          )
        ).rows.length;
      const stop = new AbortController();
      const sent = sendForm(console, { statement: 'select pg_sleep(600)', as }, { signal: stop.signal });
      while ((await sleeping()) === 0);
      stop.abort();
      await expect(sent).rejects.toThrow();
      while ((await sleeping()) > 0);
      expect(console.failures).toEqual([]);
    });

  if (kind === 'postgres')
    it('closing the console ends the statements that run', async () => {
      let began: () => void = () => undefined;
      const isBegun = new Promise<void>((resolve) => {
        began = resolve;
      });
      const read = <T>(work: (it: Warehouse) => Promise<T>): Promise<T> => {
        began();
        return work(warehouse);
      };
      const console = await openConsole(warehouse, { read });
      const ended = expect(sendForm(console, { statement: 'select pg_sleep(600)' })).rejects.toThrow();
      await isBegun;
      await console.close();
      await ended;
    });
});
