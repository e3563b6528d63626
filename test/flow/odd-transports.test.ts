/** What a service does to the transport costs a bounded number of attempts over all runs, and no answer that can be read is lost. */
import { beforeEach, expect, it } from 'vitest';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { planSync } from '../../src/flow/prepare/plan-sync.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { type Clock, clockFrom } from './clock.ts';
import { head, raw, VALID, whole } from './hostile-case.ts';
import { type Answer, type HostileServer, hostileServer, ONE_CALL, syncFrom } from './hostile-server.ts';
import { configOf } from './scene.ts';
import { select } from './rows.ts';

const THREE = ONE_CALL.replace('request: { user: ada,', 'for_each: { user: [ada, grace, joan] }, request: {');
const STOP = THREE.replace('endpoint:', 'in_doubt: stop, endpoint:');
const notHttp: Answer = raw('SSH-2.0-OpenSSH_9.6\r\n', 'close');
const fine: Answer = whole(VALID);

anyWarehouse('over many runs,', (open) => {
  let warehouse: Warehouse;
  let clock: Clock;
  beforeEach(async () => {
    warehouse = await open();
    clock = clockFrom();
  });

  const runs = async (server: HostileServer, count: number, yaml = THREE, refresh = false): Promise<number[]> => {
    const codes: number[] = [];
    for (let run = 0; run < count; run += 1) {
      const { summary } = await syncFrom(server, warehouse, { yaml, clock, refresh });
      codes.push(summary.exitCode);
      clock.advance(3_600_000);
    }
    return codes;
  };
  const newest = () =>
    select(
      warehouse,
      `select state, failure_class, error, attempts::int as attempts, next like '%--refresh%' as names_refresh
      from sluice_ops.requests where run_id = (select max(id) from sluice_ops.runs where sync = 'user') order by id`,
    );

  it.each([
    ['an answer that is not HTTP', notHttp, 'the answer is not HTTP'],
    [
      'chunks whose size is no number',
      raw(`${head(200, { 'transfer-encoding': 'chunked' })}zz\r\n[]\r\n`, 'stay'),
      'the answer is not HTTP',
    ],
    [
      'a body that is cut',
      raw(head(200, { 'content-length': 900 }) + VALID.toString(), 'close'),
      'the connection was lost in the middle of the answer (UND_ERR_SOCKET)',
    ],
  ] as const)('%s is bought in three invocations and then listed as failing', async (_, answer, error) => {
    const server = await hostileServer(answer);

    expect(await runs(server, 3)).toEqual([5, 5, 4]);
    expect(server.calls()).toHaveLength(3 * 3 * 2);
    expect(await runs(server, 3)).toEqual([4, 4, 4]);

    expect(server.calls()).toHaveLength(3 * 3 * 2);
    const listed = { state: 'failed', failure_class: 'failing', error, attempts: 0, names_refresh: true };
    expect(await newest()).toEqual([listed, listed, listed]);
    const [definition] = (await configOf(THREE, `http://${server.host}`)).syncs;
    if (!definition) throw new Error('no sync');
    const planned = async (refresh: boolean) => {
      const { parts } = await planSync(warehouse, definition, { refresh }, clock.now());
      return (await Array.fromAsync(parts(operationsOf(warehouse)))).flatMap(({ givenUp }) => [...givenUp]);
    };
    expect((await planned(false)).length).toBe(3);
    expect((await planned(true)).length).toBe(0);
  });

  it('what stays in doubt by in_doubt: stop is bought three times and then listed as failing', async () => {
    const server = await hostileServer(notHttp);

    expect(await runs(server, 5, STOP)).toEqual([5, 5, 4, 4, 4]);

    expect(server.calls()).toHaveLength(3 * 3);
    expect(await newest()).toMatchObject([{ state: 'failed' }, { state: 'failed' }, { state: 'failed' }]);
  });

  it.each([
    ['headers above 256 KiB', raw(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(300 * 1024)}\r\n\r\n[]`, 'stay')],
    ['a body above the limit', whole(Buffer.alloc(2 ** 21, 0x20))],
  ] as const)('%s are bought once', async (_, answer) => {
    const server = await hostileServer(answer);
    for (let run = 0; run < 3; run += 1) {
      const { summary } = await syncFrom(server, warehouse, { yaml: THREE, clock, maxBodyBytes: 2 ** 20 });
      expect(summary).toMatchObject({ exitCode: 4, syncs: [{ failed: 3, left: 0 }] });
      clock.advance(3_600_000);
    }
    expect(server.calls()).toHaveLength(3);
    expect(await newest()).toMatchObject([{ failure_class: 'too_large', attempts: 0, names_refresh: true }, {}, {}]);
  });

  it('what is listed as failing is requested again by a refresh and by a changed definition, and an answer clears it', async () => {
    const server = await hostileServer(...(Array(18).fill(notHttp) as Answer[] as [Answer]), fine);
    expect(await runs(server, 4)).toEqual([5, 5, 4, 4]);

    expect(await runs(server, 1, THREE, true)).toEqual([0]);
    expect(server.calls()).toHaveLength(21);
    expect(await runs(server, 1)).toEqual([0]);
    expect(server.calls()).toHaveLength(24);

    const other = await hostileServer(...(Array(18).fill(notHttp) as Answer[] as [Answer]), fine);
    expect(await runs(other, 4)).toEqual([5, 5, 4, 4]);
    expect(await runs(other, 1, THREE.replace('timeout: 20', 'timeout: 21'))).toEqual([0]);
    expect(other.calls()).toHaveLength(21);
  });

  it('an answer with 100 KiB of headers, and one after an unasked 100 Continue, load at the first attempt', async () => {
    const full = head(200, { 'content-length': VALID.length, cookie: 'x'.repeat(100 * 1024) });
    const server = await hostileServer(raw(`HTTP/1.1 100 Continue\r\n\r\n${full}${VALID.toString()}`, 'stay'));
    expect(await runs(server, 1)).toEqual([0]);
    expect(server.calls()).toHaveLength(3);
  });
});
