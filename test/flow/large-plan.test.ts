/** Plans of several parts: what must hold across parts holds, and a bad input in the last part stops everything. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anyWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { groupsConfig, oneGroup, shared } from './chunks.ts';
import { only, sceneIn, service } from './scene.ts';
import { select, states } from './rows.ts';

/** A part of a plan has 1,000 inputs. */
const ROWS = 2_500;

const user = (at: number): string => `nobody_${at}`;

/** A config whose inputs are the lines of a CSV file. */
async function configOf(lines: readonly string[], head = 'user'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-inputs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'users.csv');
  await writeFile(file, `${head}\n${lines.join('\n')}\n`);
  return `${service({ in_flight: 4 })}
syncs:
  users: { endpoint: microblog.user, for_each: { user: { file: ${file}, column: user } }, max_age: 7d }
`;
}

anyWarehouse('a plan of several parts', (open) => {
  it('has each request once, in the order of the inputs, and quotes it once', async () => {
    const controller = new AbortController();
    const scene = await sceneIn(await open(), {
      respond: () => {
        controller.abort();
        return undefined;
      },
    });
    const users = Array.from({ length: ROWS }, (_, at) => user(at === ROWS - 1 ? 0 : at));
    const summary = only(await scene.sync(await configOf(users), { signal: controller.signal }));

    expect(summary).toMatchObject({ quote: { requests: ROWS - 1, most: ROWS - 1 } });
    const [planned] = await select(
      scene.warehouse,
      `select count(*)::int as requests, bool_and(body->>'user' = 'nobody_' || n) as in_order, count(chunk)::int as chunked
         from (select *, row_number() over (order by id) - 1 as n from sluice_ops.requests) r`,
    );
    expect(planned).toEqual({ requests: ROWS - 1, in_order: true, chunked: 0 });
  });

  it('uses the smallest age among equal inputs, wherever they are', async () => {
    const scene = await sceneIn(await open());
    const rows = (age: string) =>
      Array.from({ length: ROWS }, (_, at) => (at === ROWS - 1 ? `${user(0)},${age}` : `${user(at % 3)},`));
    await scene.sync(await configOf(rows(''), 'user,max_age'));
    expect(scene.arrived()).toHaveLength(3);
    scene.clock.advance(2 * 3_600_000);

    await scene.sync(await configOf(rows('1h'), 'user,max_age'));
    expect(scene.arrived().map(({ body }) => body)).toEqual([{ user: user(0) }]);
  });

  it('is not made, and nothing is sent, if a row of its last part is refused', async () => {
    const scene = await sceneIn(await open());
    const rows = Array.from({ length: ROWS }, (_, at) => (at === ROWS - 5 ? '""' : user(at)));
    const summary = only(await scene.sync(await configOf(rows)));

    expect(summary).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining(`users.csv:${ROWS - 3}: user is empty`),
    });
    expect(scene.arrived()).toEqual([]);
    expect(await states(scene.warehouse)).toEqual({});
    expect(await select(scene.warehouse, 'select id from sluice_ops.runs')).toEqual([]);
  });
});

describe('a transaction that computes for long between two statements', () => {
  const open = postgresWarehouses();

  /** Lets the server refuse a change of a table in a transaction that it would end after a silence. */
  const refuseImpatience = (warehouse: Warehouse, change: string) =>
    select(
      warehouse,
      `do $do$ begin
        create function public.refuse() returns trigger language plpgsql as
          $$ begin
            if current_setting('idle_in_transaction_session_timeout') <> '0' then raise exception 'it would end'; end if;
            return new;
          end $$;
        create trigger refuse before ${change} for each row execute function public.refuse();
      end $do$`,
    );

  it('is not ended by the server while it makes a plan', async () => {
    const scene = await sceneIn(await open());
    await refuseImpatience(scene.warehouse, 'update of quote on sluice_ops.runs');
    expect(only(await scene.sync(await configOf([user(1)])))).toMatchObject({ exitCode: 0, error: null });
  });

  it('is not ended by the server while it concludes a shared run', async () => {
    const scene = await sceneIn(await open(), { respond: oneGroup });
    const { workAll } = await shared(scene, groupsConfig(4), { chunkSize: 2 });
    await refuseImpatience(scene.warehouse, 'update of ended_at on sluice_ops.runs');
    expect((await workAll()).at(-1)).toMatchObject({ as: 'concluded', exitCode: 0 });
  });
});

describe('a plan that the server has no space for', () => {
  const open = postgresWarehouses();

  it('ends with the error of the statement that failed first, and can be repeated', async () => {
    const scene = await sceneIn(await open());
    await select(
      scene.warehouse,
      `do $do$ begin
        create function public.no_space() returns trigger language plpgsql as
          $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
        create trigger no_space before insert on sluice_ops.requests execute function public.no_space();
      end $do$`,
    );
    const summary = only(await scene.sync(await configOf(Array.from({ length: ROWS }, (_, at) => user(at)))));

    expect(summary).toMatchObject({ exitCode: 5, error: 'the database could not be used: could not extend file' });
    expect(scene.arrived()).toEqual([]);
  });
});
