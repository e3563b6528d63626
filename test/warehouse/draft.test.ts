import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readCatalog } from '../../src/warehouse/migrate/live-schema.ts';
import type { DdlTable } from '../../src/warehouse/schema/ddl.ts';
import { migratedTables } from '../../scripts/migrated-tables.ts';
import { draftMigration } from '../../scripts/migration-draft.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { eachWarehouse } from '../support/warehouse.ts';

eachWarehouse('a drafted migration', (open) => {
  it('has nothing to do on a schema that is current', async () => {
    const live = await readCatalog(await open());
    expect(draftMigration(live.analyst, tables)).toEqual({ statements: [], undo: [], undecided: [] });
    expect(draftMigration(live.operations, operationsTables)).toEqual({ statements: [], undo: [], undecided: [] });
  });

  it('brings back all that is missing', async () => {
    const warehouse = await open();
    const run = async (statements: readonly string[]): Promise<void> => {
      await warehouse.db.transaction().execute(async (trx) => {
        await sql`set local search_path to sluice`.execute(trx);
        for (const statement of statements) await sql.raw(statement).execute(trx);
      });
    };
    await run([
      'drop table pronet_group_members cascade',
      'alter table pronet_groups drop column image',
      'alter table photoshare_posts drop constraint photoshare_posts_user_id_fkey',
      'drop index photoshare_posts_code_idx',
    ]);
    const before = (await readCatalog(warehouse)).analyst;
    const { statements, undo, undecided } = draftMigration(before, tables);
    expect(undecided).toEqual([]);
    expect(statements).toEqual([
      expect.stringContaining('create table "pronet_group_members"'),
      'create index "pronet_group_members_user_urn_type_user_urn_value_idx" on "pronet_group_members" ("user_urn_type", "user_urn_value")',
      'alter table "pronet_groups" add column "image" text',
      'alter table "photoshare_posts" add constraint "photoshare_posts_user_id_fkey" foreign key ("user_id") references "photoshare_users" ("id") on delete set null',
      'create index "photoshare_posts_code_idx" on "photoshare_posts" using hash ("code")',
    ]);
    await run(statements);
    const rest = (await schemaDrift(warehouse)).filter(({ message }) => !/comment|^view /.test(message));
    expect(rest).toEqual([]);
    await run(undo);
    expect((await readCatalog(warehouse)).analyst).toEqual(before);
  });

  it('says what it leaves to a person', async () => {
    const warehouse = await open();
    for (const statement of [
      'create table sluice.notes (id int)',
      'alter table sluice.web_pages add column note text',
      'drop view sluice.web_pages_history',
      'alter table sluice.web_pages alter column metadata type json',
      'alter table sluice_ops.marks drop constraint marks_pkey',
    ]) {
      await sql.raw(statement).execute(warehouse.db);
    }
    const live = await readCatalog(warehouse);
    const stricter = tables.map(
      (it): DdlTable =>
        it.name === 'web_pages'
          ? { ...it, columns: [...it.columns, { name: 'new', type: 'text', nullable: false, about: 'New.' }] }
          : it,
    );
    expect(draftMigration(live.analyst, stricter)).toEqual({
      statements: ['alter table "web_pages" add column "new" text not null'],
      undo: ['alter table "web_pages" drop column "new"'],
      undecided: [
        'table notes exists and is not declared',
        'web_pages: column metadata: type is json, declared jsonb',
        'web_pages: column note exists and is not declared',
        "web_pages: column new is added as not null without a default, which fails if the table has rows: add it with a default for them, and drop the default (of _detail: 'full')",
      ],
    });
    expect(draftMigration(live.operations, operationsTables)).toEqual({
      statements: [],
      undo: [],
      undecided: ['marks: primary key marks_pkey is declared and does not exist'],
    });
  });
});

describe('the schema that a draft starts from', () => {
  it('has the tables of all migrations and no views, which may read tables that the draft will create', async () => {
    const { analyst, operations } = await migratedTables();
    expect([analyst.views, operations.views]).toEqual([[], []]);
    expect(draftMigration(analyst, tables)).toEqual({ statements: [], undo: [], undecided: [] });
    expect(draftMigration(operations, operationsTables)).toEqual({ statements: [], undo: [], undecided: [] });
  });
});
