import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { applyGrants, grantStatements } from '../../src/warehouse/migrate/grants.ts';
import { quoted } from '../../src/warehouse/sql/identifiers.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { views } from '../../src/warehouse/schema/views/views.ts';
import { embeddedWarehouses, postgresWarehouses } from '../support/warehouse.ts';

const NAMES = { schema: 'sluice', ops: 'sluice_ops' };

/** A role's name of this test's own; the role goes with the test, for roles belong to the server. */
function roleIn(warehouse: Warehouse, name = 'reader'): string {
  const role = `${name} ${randomBytes(6).toString('hex')}`;
  onTestFinished(async () => {
    const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(warehouse.db);
    if (rows.length === 0) return;
    await sql.raw(`drop owned by ${quoted(role)} cascade`).execute(warehouse.db);
    await sql.raw(`drop role ${quoted(role)}`).execute(warehouse.db);
  });
  return role;
}

/** What a statement gives the role, and nothing of it stays. */
async function as(warehouse: Warehouse, role: string, statement: string): Promise<readonly unknown[]> {
  const undo = new Error('undo');
  let rows: readonly unknown[] = [];
  const work = warehouse.db.transaction().execute(async (tx) => {
    await sql.raw(`set local role ${quoted(role)}`).execute(tx);
    rows = (await sql.raw(statement).execute(tx)).rows;
    throw undo;
  });
  await work.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return rows;
}

describe('a reader', () => {
  const open = postgresWarehouses();
  const REFUSED = { code: '42501' };

  it('reads every table and view for analysts, and writes nothing', async () => {
    const warehouse = await open();
    const role = roleIn(warehouse, 'odd "$reader$" \' \\ name');
    await applyGrants(warehouse, role);
    for (const { name } of [...tables, ...views]) {
      await as(warehouse, role, `select * from sluice.${name} limit 1`);
      for (const write of [`delete from sluice.${name}`, `truncate sluice.${name}`])
        await expect(as(warehouse, role, write)).rejects.toThrow();
    }
    for (const write of [
      "insert into sluice.pronet_industries (urn_type) values ('x')",
      'update sluice.pronet_users set name = null',
      'create table sluice.mine (id int)',
      'create view sluice.mine as select 1 as one',
      'drop view sluice.sync_inputs',
      'create table sluice_ops.mine (id int)',
    ])
      await expect(as(warehouse, role, write)).rejects.toMatchObject(REFUSED);
  });

  it('sees nothing of the machinery but what the views show', async () => {
    const warehouse = await open();
    const role = roleIn(warehouse);
    await sql.raw(`create role ${quoted(role)} nologin`).execute(warehouse.db);
    await sql.raw(`grant usage on schema sluice_ops to ${quoted(role)}`).execute(warehouse.db);
    await sql.raw(`grant select, delete on all tables in schema sluice_ops to ${quoted(role)}`).execute(warehouse.db);
    await sql.raw(`grant all on sluice.web_pages to ${quoted(role)}`).execute(warehouse.db);
    await applyGrants(warehouse, role);
    for (const table of ['answers', 'requests', 'runs', 'leases'])
      await expect(as(warehouse, role, `select * from sluice_ops.${table}`)).rejects.toMatchObject(REFUSED);
    await expect(as(warehouse, role, 'delete from sluice.web_pages')).rejects.toMatchObject(REFUSED);
    expect(await as(warehouse, role, 'select * from sluice.sync_runs')).toEqual([]);
  });

  it('reads tables of later migrations too; a second time changes nothing', async () => {
    const warehouse = await open();
    const role = roleIn(warehouse);
    expect(await applyGrants(warehouse, role)).toEqual(await applyGrants(warehouse, role));
    await sql`create table sluice.later as select 1 as one`.execute(warehouse.db);
    await sql`create view sluice.later_view as select one from sluice.later`.execute(warehouse.db);
    await sql`create table sluice_ops.later as select 1 as one`.execute(warehouse.db);
    expect(await as(warehouse, role, 'select one from sluice.later_view natural join sluice.later')).toEqual([
      { one: 1 },
    ]);
    await expect(as(warehouse, role, 'select one from sluice_ops.later')).rejects.toMatchObject(REFUSED);
  });

  it('is made by what is printed, too', async () => {
    const warehouse = await open();
    const role = roleIn(warehouse);
    for (const statement of grantStatements(NAMES, role)) await sql.raw(statement).execute(warehouse.db);
    expect(await as(warehouse, role, 'select sync from sluice.sync_freshness')).toEqual([]);
  });

  it('is refused to be who could write all the same', async () => {
    const warehouse = await open();
    const { rows } = await sql<{ me: string }>`select current_user::text as me`.execute(warehouse.db);
    await expect(applyGrants(warehouse, rows[0]?.me ?? '')).rejects.toThrow('is a superuser or owns the tables');
  });

  it.each(['pg_write_all_data', 'pg_read_all_data', 'pg_execute_server_program'])(
    'is refused to be a member of %s, directly or through another role',
    async (group) => {
      const warehouse = await open();
      const direct = roleIn(warehouse, 'direct');
      const between = roleIn(warehouse, 'between');
      const indirect = roleIn(warehouse, 'indirect');
      for (const role of [direct, between, indirect])
        await sql.raw(`create role ${quoted(role)} nologin`).execute(warehouse.db);
      await sql.raw(`grant ${group} to ${quoted(direct)}, ${quoted(between)}`).execute(warehouse.db);
      await sql.raw(`grant ${quoted(between)} to ${quoted(indirect)}`).execute(warehouse.db);
      for (const role of [direct, indirect])
        await expect(applyGrants(warehouse, role)).rejects.toMatchObject({
          message: expect.stringContaining(`is a member of ${group}`) as string,
          next: expect.stringContaining('revoke') as string,
        });
    },
  );

  it('is left to an administrator by who may not make roles', async () => {
    const warehouse = await open();
    const weak = roleIn(warehouse, 'weak');
    await applyGrants(warehouse, weak);
    const work = warehouse.db.transaction().execute(async (tx) => {
      await sql.raw(`set local role ${quoted(weak)}`).execute(tx);
      for (const statement of grantStatements(NAMES, 'another reader')) await sql.raw(statement).execute(tx);
    });
    await expect(work).rejects.toMatchObject(REFUSED);
  });
});

describe('grants', () => {
  it('quote every name', () => {
    const statements = grantStatements({ schema: 'my "odd" schema', ops: 'my "odd" schema_ops' }, 'a"b', ['own"er']);
    expect(statements.slice(1)).toEqual([
      'revoke all on schema "my ""odd"" schema_ops" from "a""b"',
      'revoke all on all tables in schema "my ""odd"" schema_ops" from "a""b"',
      'revoke all on schema "my ""odd"" schema" from "a""b"',
      'revoke all on all tables in schema "my ""odd"" schema" from "a""b"',
      'grant usage on schema "my ""odd"" schema" to "a""b"',
      'grant select on all tables in schema "my ""odd"" schema" to "a""b"',
      'alter default privileges for role "own""er" in schema "my ""odd"" schema" grant select on tables to "a""b"',
    ]);
  });

  it.each(['', 'x'.repeat(64), 'é'.repeat(32), 'pg_reader', 'public', 'a\0b'])(
    'refuse %j as the name of a role',
    (name) => {
      expect(() => grantStatements(NAMES, name)).toThrow(UsageError);
    },
  );

  it('are not for an embedded warehouse', async () => {
    await expect(applyGrants(await embeddedWarehouses()(), 'reader')).rejects.toThrow(
      'An embedded warehouse has one user',
    );
  });
});
