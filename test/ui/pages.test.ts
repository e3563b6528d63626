/** The pages of the console over a real socket, with the data of the quickstart. */
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { dictionary } from '../../src/warehouse/schema/dictionary.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { ask, type Console, linksOf, openConsole, sendForm, textOf } from './open-console.ts';

const AREAS = ['/', '/runs', '/requests', '/costs', '/coverage', '/quarantine', '/tables', '/sql', '/plan'];

async function page(console: Console, path: string): Promise<string> {
  const { status, body } = await ask(console, path);
  expect({ path, status, body: status === 200 ? '' : textOf(body) }).toEqual({ path, status: 200, body: '' });
  return body;
}

/** Every address that links lead to, at most three of each kind, beginning with the first page. */
async function everyPage(console: Console): Promise<ReadonlyMap<string, string>> {
  const seen = new Map<string, string>();
  const kinds = new Map<string, number>();
  const waiting = ['/'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const kind = path
      .replace(/\d+/g, 'N')
      .replace(/(?<=\/tables\/)\w+/, 'NAME')
      .replace(/=[^&]*/g, '=');
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if ((kinds.get(kind) ?? 0) > 3 || seen.has(path)) continue;
    const body = await page(console, path);
    seen.set(path, body);
    for (const link of linksOf(body)) {
      const address = link.replace(/#.*/, '');
      if (address !== '') waiting.push(address);
    }
  }
  return seen;
}

anyWarehouse('the console', (openWarehouse, kind) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    const opened = await openWarehouse();
    await runQuickstart(opened);
    await sql`update ${sql.table(`${opened.schema}.fact_request_costs`)} set points_left = 900`.execute(opened.db);
    warehouse = { ...opened, clock: { ...opened.clock, now: () => new Date('2026-03-06T17:00:00Z') } };
  });

  it('every link of every page leads to a page, and every area is linked', async () => {
    const console = await openConsole(warehouse);
    const pages = await everyPage(console);
    expect(AREAS.filter((path) => !pages.has(path))).toEqual([]);
    expect(pages.size).toBeGreaterThan(20);
    for (const [path, body] of pages) {
      expect({ path, links: linksOf(body).filter((it) => !/^[/#]/.test(it)) }).toEqual({ path, links: [] });
      expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(body).toContain('</html>');
    }
    expect(console.failures).toEqual([]);
  });

  it('the first page shows every sync, the points left, and what needs attention', async () => {
    const body = textOf(await page(await openConsole(warehouse), '/'));
    for (const name of ['people', 'schools', 'photos', 'costs'])
      expect(body).toMatch(new RegExp(`${name} [a-z.]+ complete`));
    expect(body).toContain('Points left 900 run out on ');
    expect(body).toMatch(/Syncs (\d+) of \1 /);
    expect(body).toMatch(/of photos may be incomplete/);
    expect(body).not.toContain('Not run yet');
  });

  it('a run shows the counts of the ledger, and links to its requests', async () => {
    const console = await openConsole(warehouse);
    const { rows } = await sql<{ id: string; loaded: string; asked: string }>`
      select run_id as id, loaded, asked from ${sql.table(`${warehouse.schema}.sync_runs`)} where sync = 'schools'`.execute(
      warehouse.db,
    );
    const [run] = rows;
    const body = await page(console, `/runs/${run?.id}`);
    expect(textOf(body)).toContain(`Loaded ${run?.loaded} `);
    expect(textOf(body)).toContain(`Sent ${run?.asked} `);
    expect(linksOf(body).filter((it) => /^\/requests\/\d+$/.test(it)).length).toBe(Number(run?.asked));
    const filtered = textOf(await page(console, '/runs?sync=schools'));
    expect(filtered).toContain('pronet.user.education');
    expect(filtered.match(/sec\.search\.companies/g)).toBe(null);
  });

  it('a request shows its body, its outcome, its coverage, and headers and beginning of its answer', async () => {
    const console = await openConsole(warehouse);
    const list = await page(console, '/requests?sync=people&state=loaded&endpoint=pronet.search.users');
    const [first = ''] = linksOf(list).filter((it) => /^\/requests\/\d+$/.test(it));
    const body = textOf(await page(console, first));
    expect(body).toContain('"title": "data engineer"');
    // The charge of the log replaces the points by the price list.
    expect(body).toMatch(/Points, as counted \d/);
    expect(body).toMatch(/State loaded /);
    expect(body).toMatch(
      /people \{"title":"data engineer","location":\["(?:Berlin|Paris)"\]\} (?:lower bound|complete) 50 \d+ /,
    );
    expect(body).toContain('content-type application/json');
    expect(body).toMatch(/Items (\d+) received: \1 loaded, 0 unchanged/);
    expect(body).toContain('[{"@type":"@pronet_search_user"');
  });

  it('a long answer is shown up to its first 16 KiB, decompressed', async () => {
    const { rows } = await sql<{ id: string; request: string; bytes: string }>`
      select id, request_id as request, bytes from ${sql.id(warehouse.ops, 'answers')}
      where encoding <> 'identity' order by bytes desc limit 1`.execute(warehouse.db);
    const [answer] = rows;
    expect(Number(answer?.bytes)).toBeGreaterThan(2 ** 14);
    const body = await page(await openConsole(warehouse), `/requests/${answer?.request}`);
    expect(textOf(body)).toContain('The first 16.4 kB of ');
    expect(textOf(/<h3 class="set">Body.*<\/pre>/s.exec(body)?.[0] ?? '').length).toBeGreaterThan(15_000);
  });

  it('a secret at the cut of a long answer does not show its beginning', async () => {
    const body = Buffer.from(`["${'x'.repeat(2 ** 14 - 8)}canary-token"]`);
    const { rows } = await sql<{ request: string }>`
      update ${sql.id(warehouse.ops, 'answers')} set body = ${body}, encoding = 'identity', bytes = ${body.length}
      where id = (select max(id) from ${sql.id(warehouse.ops, 'answers')}) returning request_id as request`.execute(
      warehouse.db,
    );
    const shown = await page(await openConsole(warehouse), `/requests/${rows[0]?.request}`);
    expect(shown).toContain('xxxxxxxx');
    expect(shown).not.toContain('canary');
  });

  it('lists are paged by their ids, in numeric order, and show each row once', async () => {
    const console = await openConsole(warehouse);
    const ids: number[] = [];
    for (let path: string | undefined = '/requests'; path !== undefined; ) {
      const body: string = await page(console, path);
      ids.push(
        ...linksOf(body)
          .flatMap((it) => /^\/requests\/(\d+)$/.exec(it)?.[1] ?? [])
          .map(Number),
      );
      path = /rel="next" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    }
    const { rows } = await sql<{ id: number }>`
      select id::int as id from ${sql.id(warehouse.ops, 'requests')} order by 1 desc`.execute(warehouse.db);
    expect(rows.length).toBeGreaterThan(50);
    expect(ids).toEqual(rows.map(({ id }) => id));
  });

  it('the costs are those of the log, by day, endpoint and sync', async () => {
    const { rows } = await sql<{ points: string }>`
      select sum(points) as points from ${sql.table(`${warehouse.schema}.daily_costs`)}`.execute(warehouse.db);
    const body = await page(await openConsole(warehouse), '/costs');
    expect(textOf(body)).toContain(`All endpoints ${rows[0]?.points} points`);
    expect(textOf(body)).toMatch(/Spend by sync .* schools 20 20 0 0/);
    expect(body).toContain('<svg class="chart"');
  });

  it('the coverage lists the slices of an extent', async () => {
    const console = await openConsole(warehouse);
    const bounds = textOf(await page(console, '/coverage?extent=lower_bound&sync=photos')).replace(
      /.*? Slices Sync/,
      '',
    );
    expect(bounds.match(/lower bound/g)?.length).toBe(2);
    expect(bounds).toContain('as many items as requested');
    expect(textOf(await page(console, '/coverage?extent=open&sync=photos'))).toContain('There are no such slices.');
  });

  it('a table shows columns with their meaning, its key, and its first rows; a view shows rows on demand', async () => {
    const console = await openConsole(warehouse);
    expect(textOf(await page(console, '/tables'))).toContain('pronet_groups 3 Groups of the professional network.');
    const all = textOf(await page(console, '/tables'));
    expect(dictionary().filter(({ table: name }) => !all.includes(name))).toEqual([]);
    const table = textOf(await page(console, '/tables/pronet_groups'));
    expect(table).toContain('Key urn_type, urn_value');
    expect(table).toContain('member_count bigint yes');
    expect(table).toMatch(/First rows .*1001/);
    expect(textOf(await page(console, '/tables/answers'))).toMatch(/First rows .*\d+ bytes/);
    expect(textOf(await page(console, '/tables/sync_runs'))).not.toContain('First rows .*schools');
    expect(textOf(await page(console, '/tables/sync_runs?rows=first'))).toMatch(/First rows .*schools/);
  });

  it('a plan shows what the next run of a sync would request and its most points, and changes nothing', async () => {
    const counts = async (): Promise<unknown> =>
      (
        await sql`select (select count(*) from ${sql.id(warehouse.ops, 'runs')}) as runs,
          (select count(*) from ${sql.id(warehouse.ops, 'requests')}) as requests`.execute(warehouse.db)
      ).rows;
    const before = await counts();
    const console = await openConsole(warehouse);
    expect(textOf(await page(console, '/plan'))).not.toContain('Requests to send');
    const all = textOf(await page(console, '/plan?sync=all+syncs'));
    expect(all).toMatch(/people pronet\.search\.users \d+ \d+ [\d,]+ [\d,]+ [\d,]+ /);
    expect(all).toContain('next: sluice sync');
    const one = textOf(await page(console, '/plan?sync=costs'));
    expect(one).toContain('next: sluice sync costs');
    expect(one).not.toContain('pronet.search.users');
    expect(await counts()).toEqual(before);
    const { status, body } = await ask(console, '/plan?sync=none');
    expect({ status, text: textOf(body) }).toEqual({
      status: 400,
      text: expect.stringContaining('"none" is not a sync of this config'),
    });
  });

  it('an item in quarantine has its reason, its pointer and the item as sent', async () => {
    const { rows } = await sql<{ id: string }>`
      insert into ${sql.id(warehouse.ops, 'quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at)
      select id, sync, endpoint, 'PronetGroup', 0, '/0', 'its name is wrong', received_at
      from ${sql.id(warehouse.ops, 'answers')} where sync = 'groups' order by id limit 1 returning id`.execute(
      warehouse.db,
    );
    const console = await openConsole(warehouse);
    // The status counts entries of a sync's reads of the log for the sync.
    await sql`
      insert into ${sql.id(warehouse.ops, 'quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at)
      select id, 'groups:log', 'token.requests', 'TokenRequest', 1, '/1', 'its id is missing', received_at
      from ${sql.id(warehouse.ops, 'answers')} where sync = 'groups' order by id limit 1`.execute(warehouse.db);
    const list = await page(console, '/quarantine?sync=groups');
    expect(textOf(list)).toContain('PronetGroup /0 its name is wrong');
    expect(textOf(list)).toContain('TokenRequest /1 its id is missing');
    expect(textOf(await page(console, '/quarantine?sync=pages'))).not.toContain('its id is missing');
    const entry = textOf(await page(console, `/quarantine/${rows[0]?.id}`));
    expect(entry).toContain('Reason its name is wrong JSON pointer /0');
    expect(entry).toContain('{ "@type": "@pronet_group"');
  });

  it('secrets in errors, headers, bodies and reasons are redacted', async () => {
    const ops = (name: string) => sql.id(warehouse.ops, name);
    const secret = 'Bearer canary-token';
    await sql`update ${ops('requests')} set error = ${secret}, next = ${secret}, failure_class = ${secret},
      input = jsonb_build_object('k', ${secret}::text), body = jsonb_build_object('k', ${secret}::text),
      sent_body = jsonb_build_object('k', ${secret}::text)`.execute(warehouse.db);
    await sql`update ${ops('runs')} set error = ${secret}`.execute(warehouse.db);
    await sql`update ${ops('answers')} set headers = jsonb_build_object('x-echo', ${secret}::text),
      body = convert_to('{"k": "canary-token"}', 'UTF8'), encoding = 'identity'`.execute(warehouse.db);
    await sql`update ${ops('coverage')} set reason = ${secret}, filters = jsonb_build_object('k', ${secret}::text)`.execute(
      warehouse.db,
    );
    const { rows } = await sql<{ id: string }>`
      insert into ${ops('quarantine')} (answer_id, sync, endpoint, resource, position, pointer, reason, created_at)
      select id, sync, endpoint, 'r', null, '', ${secret}, now() from ${ops('answers')} order by id limit 1 returning id`.execute(
      warehouse.db,
    );
    await sql`insert into ${ops('alerts')} (sync, kind, state, since, because, next)
      values ('people', 'failed', 'raised', now(), ${secret}, ${secret})`.execute(warehouse.db);
    const console = await openConsole(warehouse);
    const found = [];
    for (const path of [
      '/',
      '/runs',
      '/runs/1',
      '/requests',
      '/requests/1',
      '/coverage',
      '/quarantine',
      `/quarantine/${rows[0]?.id}`,
    ]) {
      const body = await page(console, path);
      expect({ path, body: body.includes('canary') }).toEqual({ path, body: false });
      found.push(body.split('[redacted]').length - 1);
    }
    expect(found.map((it) => it > 0)).toEqual(found.map(() => true));
  });

  it('the tables redact secrets, also at the cut of a cell', async () => {
    const console = await openConsole(warehouse);
    const around = (text: string) => `${'x'.repeat(294)}${text}`;
    await sql`update ${sql.id(warehouse.ops, 'requests')} set error = ${around('canary-token')}`.execute(warehouse.db);
    const statement = `select error as "canary-token", 'Bearer canary-token' as two, '${around('')}' || 'canary-' || 'token' as three
      from ${warehouse.ops}.requests`;
    const bodies = [await page(console, '/tables/requests'), (await sendForm(console, { statement })).body];
    for (const body of bodies) {
      expect(body).toContain('[redac');
      expect(body.replace(/<textarea[^]*<\/textarea>/, '')).not.toContain('canary');
    }
  });

  it('a parameter with a NUL character counts as absent', async () => {
    const console = await openConsole(warehouse);
    expect((await ask(console, '/requests?state=%00')).status).toBe(200);
    expect(console.failures).toEqual([]);
  });

  it('what does not exist is a page with status 404', async () => {
    const console = await openConsole(warehouse);
    for (const path of [
      '/nothing',
      '/runs/999999',
      '/runs/x',
      '/requests/99999999999999999999',
      '/tables/none',
      '/runs/',
      '/runs/1/2',
      '/costs/1',
      '/quarantine/%zz',
      '/__proto__',
    ]) {
      const { status, body } = await ask(console, path);
      expect({ path, status, next: textOf(body).includes('There is no such page.') }).toEqual({
        path,
        status: 404,
        next: true,
      });
    }
    expect(console.failures).toEqual([]);
  });

  it('the pages of an empty warehouse say what to run', async () => {
    const empty = await openWarehouse({ migrated: false });
    const console = await openConsole(empty);
    for (const path of AREAS.filter((it) => it !== '/sql'))
      expect(textOf(await page(console, path))).toContain('sluice sync');
    expect((await ask(console, '/sql')).status).toBe(200);
    expect(
      (await sql`select from information_schema.tables where table_schema like 'sluice%'`.execute(empty.db)).rows,
    ).toEqual([]);
  });

  it('the pages of a schema without rows say what to run', async () => {
    const console = await openConsole(await openWarehouse());
    for (const path of AREAS) expect({ path, text: textOf(await page(console, path)) }).toMatchObject({ path });
    expect(textOf(await page(console, '/'))).toContain('Run sluice sync');
    expect(textOf(await page(console, '/runs'))).toContain('There are no such runs. Run sluice sync');
    expect(textOf(await page(console, '/costs'))).toContain('Add a sync of token.requests');
    expect(textOf(await page(console, '/quarantine'))).toContain('Nothing is in quarantine.');
  });

  it('a schema of another version is an error with the next step, and stays as it is', async () => {
    const other = await openWarehouse();
    await sql`insert into ${sql.id(other.ops, 'kysely_migration')} values ('9999-later', now()::text)`.execute(
      other.db,
    );
    const { status, body } = await ask(await openConsole(other), '/runs');
    expect({ kind, status, text: textOf(body) }).toEqual({
      kind,
      status: 503,
      text: expect.stringContaining('newer than this version of Sluice. Update Sluice'),
    });
  });
});
