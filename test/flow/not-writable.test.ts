/** A database that accepts no writes: nothing is sent, and the exit code and the words say what to do. */
import { describe, expect, it } from 'vitest';
import { TransientError, UsageError } from '../../src/errors.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { wireTo } from './postgres-wire.ts';
import { select, states } from './rows.ts';
import { only, sceneIn, service } from './scene.ts';

const CONFIG = `${service({ in_flight: 2 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
  user: { endpoint: microblog.user, request: { user: acme_labs } }
`;

/** Makes every write to a table fail with this error of the server. */
const troubled = async (warehouse: Warehouse, table: string, code: string, when = 'true'): Promise<void> => {
  await select(
    warehouse,
    `create or replace function pg_temp_trouble_${code.toLowerCase()}() returns trigger language plpgsql as
      $$ begin if ${when} then raise exception 'trouble ${code}' using errcode = '${code}'; end if; return new; end $$`,
  );
  await select(
    warehouse,
    `create trigger trouble before insert or update on sluice_ops.${table} for each row execute function pg_temp_trouble_${code.toLowerCase()}()`,
  );
};
const healed = (warehouse: Warehouse, table: string): Promise<unknown> =>
  select(warehouse, `drop trigger trouble on sluice_ops.${table}`);

describe('a database that accepts no writes at the start', () => {
  const open = postgresWarehouses();

  it('as it is set to read-only: nothing is sent, and the next run works', async () => {
    const scene = await sceneIn(await open());
    const [row] = await select<{ name: string }>(scene.warehouse, 'select current_database() as name');
    const readOnly = (on: string) =>
      select(scene.warehouse, `alter database ${row?.name ?? ''} set default_transaction_read_only = ${on}`);
    const { warehouse, cut } = await wireTo(scene.warehouse);
    await readOnly('on');
    cut();

    await expect(scene.sync(CONFIG, { warehouse })).rejects.toMatchObject({
      exitCode: 5,
      message: 'the database could not be used: cannot execute INSERT in a read-only transaction',
      next: 'Try again when the database works. Stored answers are kept.',
    });
    expect(scene.arrived()).toEqual([]);
    await expect(wireTo(scene.warehouse)).rejects.toThrow(UsageError);
    await readOnly('off');
    cut();
    expect(await scene.sync(CONFIG, { warehouse })).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['full', '53100', 'leases'],
    ['full, and has no room for the plan', '53100', 'requests'],
    ['out of connections', '53300', 'leases'],
    ['shutting down', '57P01', 'leases'],
    ['starting', '57P03', 'runs'],
    ['read-only', '25006', 'runs'],
    ['broken', 'XX001', 'leases'],
    ['on a disk that fails', '58030', 'requests'],
  ])('as it is %s (%s on %s): nothing is sent', async (_, code, table) => {
    const scene = await sceneIn(await open());
    await troubled(scene.warehouse, table, code);
    expect(await scene.sync(CONFIG)).toMatchObject({
      exitCode: 5,
      syncs: [{ exitCode: 5, error: `the database could not be used: trouble ${code}`, sent: 0 }, { exitCode: 5 }],
    });
    expect(scene.arrived()).toEqual([]);
    await healed(scene.warehouse, table);
    expect(await scene.sync(CONFIG)).toMatchObject({ exitCode: 0 });
  });

  it('as it is gone: nothing is sent', async () => {
    const scene = await sceneIn(await open());
    const { warehouse, shut } = await wireTo(scene.warehouse);
    shut(true);
    await expect(scene.sync(CONFIG, { warehouse })).rejects.toThrow(TransientError);
    expect(scene.arrived()).toEqual([]);
    shut(false);
    expect(await scene.sync(CONFIG, { warehouse })).toMatchObject({ exitCode: 0 });
  });

  it('because a right is missing: the error names the right to grant, and nothing is sent', async () => {
    const scene = await sceneIn(await open());
    await troubled(scene.warehouse, 'leases', '42501');
    expect(await scene.sync(CONFIG)).toMatchObject({
      exitCode: 2,
      syncs: [
        { exitCode: 2, error: expect.stringContaining('trouble 42501'), next: expect.stringMatching(/^Grant/) },
        {},
      ],
    });
    expect(scene.arrived()).toEqual([]);
  });

  it.each([
    ['42P01', 'a table'],
    ['42703', 'a column'],
  ])('as it lacks something that the program writes (%s, %s): the schema is named, not a bug', async (code) => {
    const scene = await sceneIn(await open());
    await troubled(scene.warehouse, 'runs', code);
    const next = expect.stringContaining('sluice check');
    expect(await scene.sync(CONFIG)).toMatchObject({ exitCode: 8, syncs: [{ exitCode: 8, next }, {}] });
    expect(scene.arrived()).toEqual([]);
  });

  it.each(['replay', 'quarantine retry'])('%s changes nothing and says so', async (what) => {
    const scene = await sceneIn(await open());
    await scene.sync(CONFIG);
    await troubled(scene.warehouse, 'leases', '25006');
    const replayed = scene.replay({ quarantined: what !== 'replay' });
    if (what === 'replay') await expect(replayed).rejects.toThrow(TransientError);
    // Nothing is in quarantine, so nothing was to be written.
    else expect(await replayed).toMatchObject({ answers: 0 });
  });
});

describe('a transient error', () => {
  const open = postgresWarehouses();
  /** Makes the first writes to a table fail in this way; a sequence counts them, because a rollback does not reset it. */
  const passing = async (warehouse: Warehouse, table: string, code: string, times: number): Promise<void> => {
    await select(warehouse, 'create sequence sluice_ops.troubles');
    await troubled(warehouse, table, code, `nextval('sluice_ops.troubles') <= ${times}`);
  };

  it.each(
    ['40P01', '40001', '57P01', '25006', '55P03', '53300', '08006'].flatMap((code) =>
      ['requests', 'answers', 'runs'].map((table) => [code, table] as const),
    ),
  )('%s on %s is tried again, and nothing is done twice', async (code, table) => {
    const scene = await sceneIn(await open());
    await passing(scene.warehouse, table, code, 3);
    const { exitCode, syncs } = await scene.sync(CONFIG);
    expect({ exitCode, errors: syncs.map(({ error }) => error) }).toEqual({ exitCode: 0, errors: [null, null] });
    expect(scene.arrived()).toHaveLength(4);
    expect(await states(scene.warehouse)).toEqual({ loaded: 4 });
    const sums = 'select count(*)::int as answers, sum(loaded)::int as loaded from sluice_ops.answers';
    expect(await select(scene.warehouse, sums)).toEqual([{ answers: 4, loaded: 4 }]);
  });

  it('and does not pass ends the run with 5 after a bounded time', async () => {
    const scene = await sceneIn(await open());
    await troubled(scene.warehouse, 'answers', '25006');
    expect(only(await scene.sync(CONFIG, { names: ['user'] }))).toMatchObject({
      exitCode: 5,
      error: 'the database could not be used: trouble 25006',
      sent: 1,
    });
    expect(scene.clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(15_000);
  });
});
