import { readFile, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { dumpSchema } from '../support/dump-schema.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const GOLDEN = new URL('../golden/schema.sql', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

eachWarehouse('schema', (open, kind) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });

  it('equals the golden file; UPDATE_GOLDEN=1 rewrites it', async () => {
    const dump = await dumpSchema(warehouse);
    if (UPDATE && kind === 'embedded') await writeFile(GOLDEN, dump);
    expect(dump).toBe(await readFile(GOLDEN, 'utf8'));
  });

  it('is the declared one', async () => {
    expect(await schemaDrift(warehouse)).toEqual([]);
  });

  const analyst = { schema: 'sluice' };
  const ops = { schema: 'sluice_ops' };
  it.each([
    [
      'a lost table',
      'drop table sluice.photoshare_user_hashtags',
      [
        {
          ...analyst,
          relation: 'photoshare_user_hashtags',
          kind: 'missing',
          message: 'table photoshare_user_hashtags is declared and does not exist',
        },
      ],
    ],
    [
      'a foreign table',
      'create table sluice.notes (id int)',
      [{ ...analyst, relation: 'notes', kind: 'unknown', message: 'table notes exists and is not declared' }],
    ],
    [
      'a lost view',
      'drop view sluice.sync_inputs',
      [
        {
          ...analyst,
          relation: 'sync_inputs',
          kind: 'missing',
          message: 'view sync_inputs is declared and does not exist',
        },
      ],
    ],
    [
      'a lost column',
      'alter table sluice.pronet_posts drop column event_image',
      [
        {
          ...analyst,
          relation: 'pronet_posts',
          part: 'event_image',
          kind: 'missing',
          message: 'column event_image is declared and does not exist',
        },
      ],
    ],
    [
      'a foreign column',
      'alter table sluice_ops.marks add column note text',
      [{ ...ops, relation: 'marks', part: 'note', kind: 'unknown', message: 'column note exists and is not declared' }],
    ],
    [
      'another type',
      'alter table sluice.pronet_users alter column image type varchar(20)',
      [
        {
          ...analyst,
          relation: 'pronet_users',
          part: 'image',
          kind: 'different',
          message: 'column image: type is character varying(20), declared text',
        },
      ],
    ],
    [
      'another nullability',
      'alter table sluice_ops.runs alter column today drop not null',
      [
        {
          ...ops,
          relation: 'runs',
          part: 'today',
          kind: 'different',
          message: 'column today: nullable is true, declared false',
        },
      ],
    ],
    [
      'another default',
      'alter table sluice_ops.runs alter column planned set default 7',
      [
        {
          ...ops,
          relation: 'runs',
          part: 'planned',
          kind: 'different',
          message: 'column planned: default is 7, declared 0',
        },
      ],
    ],
    [
      'a lost identity',
      'alter table sluice_ops.runs alter column id drop identity',
      [
        {
          ...ops,
          relation: 'runs',
          part: 'id',
          kind: 'different',
          message: 'column id: identity is false, declared true',
        },
      ],
    ],
    [
      'another storage',
      'alter table sluice_ops.answers alter column body set storage extended',
      [
        {
          ...ops,
          relation: 'answers',
          part: 'body',
          kind: 'different',
          message: 'column body: storage is none, declared external',
        },
      ],
    ],
    [
      'a lost primary key',
      'alter table sluice_ops.marks drop constraint marks_pkey',
      [
        {
          ...ops,
          relation: 'marks',
          part: 'marks_pkey',
          kind: 'missing',
          message: 'primary key marks_pkey is declared and does not exist',
        },
      ],
    ],
    [
      'a lost unique key',
      'alter table sluice_ops.requests drop constraint requests_run_id_request_key_key',
      [
        {
          ...ops,
          relation: 'requests',
          part: 'requests_run_id_request_key_key',
          kind: 'missing',
          message: 'unique key requests_run_id_request_key_key is declared and does not exist',
        },
      ],
    ],
    [
      'another foreign key',
      'alter table sluice.web_page_links drop constraint web_page_links_page_key_fkey, add constraint web_page_links_page_key_fkey foreign key (page_key) references sluice.web_pages (page_key)',
      [
        {
          ...analyst,
          relation: 'web_page_links',
          part: 'web_page_links_page_key_fkey',
          kind: 'different',
          message: 'foreign key web_page_links_page_key_fkey: onDelete is no action, declared cascade',
        },
      ],
    ],
    [
      'a lost index',
      'drop index sluice.sec_filings_file_date_idx',
      [
        {
          ...analyst,
          relation: 'sec_filings',
          part: 'sec_filings_file_date_idx',
          kind: 'missing',
          message: 'index sec_filings_file_date_idx is declared and does not exist',
        },
      ],
    ],
    [
      'another kind of index',
      'drop index sluice.pronet_users_alias_idx; create index pronet_users_alias_idx on sluice.pronet_users (alias)',
      [
        {
          ...analyst,
          relation: 'pronet_users',
          part: 'pronet_users_alias_idx',
          kind: 'different',
          message: 'index pronet_users_alias_idx: using is btree, declared hash',
        },
      ],
    ],
    [
      'another condition',
      'drop index sluice_ops.answers_waiting_idx; create index answers_waiting_idx on sluice_ops.answers (id) where loaded is null',
      [
        {
          ...ops,
          relation: 'answers',
          part: 'answers_waiting_idx',
          kind: 'different',
          message: 'index answers_waiting_idx: where is loaded IS NULL, declared loaded_at IS NULL',
        },
      ],
    ],
    [
      'another order',
      'drop index sluice.sec_filings_file_date_idx; create index sec_filings_file_date_idx on sluice.sec_filings (file_date desc)',
      [
        {
          ...analyst,
          relation: 'sec_filings',
          part: 'sec_filings_file_date_idx',
          kind: 'different',
          message: 'index sec_filings_file_date_idx: parts is file_date desc, declared file_date',
        },
      ],
    ],
    [
      'another comment',
      `comment on column sluice.web_pages.title is 'x'`,
      [
        {
          ...analyst,
          relation: 'web_pages',
          part: 'title',
          kind: 'different',
          isFixedByMigrate: true,
          message: 'column title: its comment is not the declared one; sluice migrate fixes it',
        },
      ],
    ],
    [
      'a lost comment',
      'comment on table sluice_ops.runs is null',
      [
        {
          ...ops,
          relation: 'runs',
          kind: 'different',
          isFixedByMigrate: true,
          message: 'its comment is not the declared one; sluice migrate fixes it',
        },
      ],
    ],
  ])('shows %s', async (_what, tampering, findings) => {
    const undo = new Error('undo');
    const work = warehouse.db.transaction().execute(async (trx) => {
      for (const statement of tampering.split('; ')) await sql.raw(statement).execute(trx);
      expect(await schemaDrift({ ...warehouse, db: trx })).toEqual(findings);
      throw undo;
    });
    await expect(work).rejects.toBe(undo);
  });
});
