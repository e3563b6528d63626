/** Texts of strangers in every column and in addresses: the pages of the console show them as text and do nothing else. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { HOSTILE } from '../report/hostile.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { ask, linksOf, openConsole, sendForm } from './open-console.ts';

/** Postgres stores neither of them. */
const STORABLE = HOSTILE.map((it) => it.replaceAll('\u0000', '').toWellFormed());

/** Columns whose values others refer to or that programs read. */
const KEPT =
  /^(?:id|.*_id|state|encoding|sha256|severity|status|kind|.*hash(?:es)?|.*_key|verdict|sync|check_name|name|pointer)$/;

const isFree = (column: { readonly name: string; readonly type: string }): boolean =>
  column.type === 'text' && !KEPT.test(column.name);

/** Puts the text before every text that may hold any, and into JSON. */
async function spoil({ db, schema, ops }: Warehouse, text: string): Promise<number> {
  let spoiled = 0;
  const all = [
    ...tables.filter(({ kind }) => kind === 'root').map((it) => ({ ...it, schema })),
    ...operationsTables.map((it) => ({ ...it, schema: ops })),
  ];
  for (const { name, columns, key, foreignKeys, schema: place } of all) {
    const referring = foreignKeys.flatMap((it) => it.columns);
    const free = columns.filter((it) => isFree(it) && !key.includes(it.name) && !referring.includes(it.name));
    const json = columns.filter(
      ({ name: column, type }) =>
        type === 'jsonb' && ['headers', 'body', 'sent_body', 'input', 'filters'].includes(column),
    );
    if (free.length + json.length === 0) continue;
    const set = [
      ...free.map((it) => sql`${sql.ref(it.name)} = ${text}::text`),
      ...json.map(
        (it) =>
          sql`${sql.ref(it.name)} = ${sql.ref(it.name)} || jsonb_build_object(${text}::text || 'k', ${text}::text)`,
      ),
    ];
    const { numAffectedRows = 0n } = await sql`update ${sql.id(place, name)} set ${sql.join(set)}`.execute(db);
    spoiled += Number(numAffectedRows);
  }
  return spoiled;
}

/** Gives a sync another name in all that the ledger holds. */
async function rename({ db, ops }: Warehouse, from: string, to: string): Promise<void> {
  for (const name of ['runs', 'requests', 'answers', 'coverage', 'quarantine', 'alerts', 'checks', 'lost_answers'])
    await sql`update ${sql.id(ops, name)} set sync = ${to} where sync = ${from}`.execute(db);
}

describe('pages with hostile texts', () => {
  const openWarehouse = postgresWarehouses();

  it('contain no element, attribute or address that a text made', { timeout: 180_000 }, async () => {
    const warehouse = await openWarehouse();
    await runQuickstart(warehouse);
    const ops = (name: string) => sql.id(warehouse.ops, name);
    await sql`insert into ${ops('quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at)
      select id, sync, endpoint, 'r', null, '', 'x', now() from ${ops('answers')} order by id limit 1`.execute(
      warehouse.db,
    );
    await sql`insert into ${ops('alerts')} (sync, kind, state, since, because, next) values ('people', 'failed', 'raised', now(), 'x', 'x')`.execute(
      warehouse.db,
    );
    await sql`insert into ${ops('checks')} (run_id, sync, name, kind, severity, status, allowed, message, at)
      select id, sync, 'c', 'sql', 'error', 'fail', 'x', 'x', now() from ${ops('runs')} where sync = 'people'`.execute(
      warehouse.db,
    );
    await sql`insert into ${ops('lost_answers')} (request_id, attempt, run_id, sync, endpoint, sent_at, noticed_at, reason, lost_invocations)
      select id, 1, run_id, sync, endpoint, now(), now(), 'x', 0 from ${ops('requests')} order by id limit 1`.execute(
      warehouse.db,
    );
    const console = await openConsole(warehouse);
    const [{ id: request } = { id: '' }] = (
      await sql<{ id: string }>`select min(id)::text as id from ${ops('requests')}`.execute(warehouse.db)
    ).rows;
    const [{ id: entry } = { id: '' }] = (
      await sql<{ id: string }>`select max(id)::text as id from ${ops('quarantine')}`.execute(warehouse.db)
    ).rows;
    const paths = [
      '/',
      '/runs',
      '/runs/1',
      '/requests',
      `/requests/${request}`,
      '/costs',
      '/coverage',
      '/quarantine',
      `/quarantine/${entry}`,
      '/tables',
      '/tables/pronet_users',
      '/tables/requests',
      '/tables/sync_runs?rows=first',
      '/plan',
    ];
    const allowed = new Set<string>();
    // Elements and attributes as they are without a hostile text.
    await spoil(warehouse, 'harmless');
    for (const path of paths) tagsOf(await bodyOf(path)).forEach((tag) => allowed.add(tag));

    async function bodyOf(path: string): Promise<string> {
      const { status, body } = await ask(console, path);
      expect({ path, status }).toEqual({ path, status: 200 });
      return body;
    }
    let found = 0;
    let name = 'people';
    for (const text of STORABLE) {
      // A name with a colon is one of a log read.
      const next = text.replaceAll(':', '');
      await rename(warehouse, name, next);
      name = next;
      expect(await spoil(warehouse, text)).toBeGreaterThan(100);
      for (const path of paths) {
        const body = await bodyOf(path);
        expect({ path, text, tags: [...new Set(tagsOf(body))].filter((tag) => !allowed.has(tag)) }).toEqual({
          path,
          text,
          tags: [],
        });
        expect({ path, text, links: linksOf(body).filter((it) => !/^(?:\/(?!\/)|#)/.test(it)) }).toEqual({
          path,
          text,
          links: [],
        });
        if (body.includes('pwned')) found += 1;
      }
    }
    // The texts are on the pages.
    expect(found).toBeGreaterThan(50);
  });

  it('show a hostile address or statement as text', async () => {
    const console = await openConsole(await openWarehouse());
    for (const text of STORABLE) {
      const encoded = encodeURIComponent(text);
      for (const path of [
        `/runs?sync=${encoded}`,
        `/requests?state=${encoded}&sync=${encoded}&endpoint=${encoded}`,
        `/coverage?extent=${encoded}`,
        `/quarantine?sync=${encoded}&before=${encoded}`,
        `/plan?sync=${encoded}`,
        `/sql?statement=${encoded}`,
        `/tables/${encoded}`,
        `/runs/${encoded}`,
        `/${encoded}`,
      ]) {
        const { status, body } = await ask(console, path);
        expect([200, 400, 404]).toContain(status);
        expect({
          path,
          script: /<script|<img|<iframe|<svg\/|<base|<meta http|javascript:[^&]*"/i.exec(
            body.replaceAll(/<textarea.*<\/textarea>/gs, '').replaceAll(/value="[^"]*"/g, ''),
          )?.[0],
        }).toEqual({ path, script: undefined });
        expect(/<textarea[^>]*>([^<]*)</.exec(body)?.[1] ?? '').not.toContain('<');
      }
      const result = await sendForm(console, {
        statement: `select '${text.replaceAll("'", "''")}' as "a${text.replaceAll('"', '""').slice(0, 50)}"`,
      });
      expect({ text, status: result.status, script: /<script|<img|<iframe/i.exec(result.body)?.[0] }).toEqual({
        text,
        status: 200,
        script: undefined,
      });
    }
    expect(console.failures).toEqual([]);
  });
});

/** The tags with the names of their attributes. */
const tagsOf = (body: string): string[] =>
  [...body.replaceAll(/<style>.*?<\/style>/gs, '').matchAll(/<[^>]*>/g)].map(([tag]) =>
    tag.replaceAll(/"[^"]*"/g, '""'),
  );
