/** `sluice report`, as a person runs it: on both kinds of warehouse, into a file, to standard output, as JSON. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'cheerio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { sourceFiles } from '../architecture/imports.ts';
import { enterHistory } from '../report/history.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { realEffects, SCHEMA } from '../support/warehouse.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

const CONFIG = `
service: { url: "http://127.0.0.1:9", token: "never-used" }
warehouse: { url: "\${DATABASE_URL}" }
syncs: { pages: { endpoint: webparser.parse, for_each: { url: ["https://example.com/"] } } }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
let addresses: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
  await copyEmbedded(join(folder.path, 'warehouse'));
  await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
  addresses = { embedded: `embedded:${join(folder.path, 'warehouse')}`, postgres: database.url };
  for (const url of Object.values(addresses)) {
    const warehouse = await openWarehouse({ url: new Secret(url), schema: SCHEMA }, realEffects);
    await enterHistory(warehouse, new Date());
    await warehouse.close();
  }
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

const sluice = (words: readonly string[], url: string | undefined) =>
  runInProcess(words, { env: { SLUICE_CONFIG: join(folder.path, 'sluice.yaml'), DATABASE_URL: url ?? '' } });

describe.each(['embedded', 'postgres'])('sluice report (%s)', (kind) => {
  it('writes one file and says so', async () => {
    const file = join(folder.path, `${kind}.html`);
    expect(await sluice(['report', '--output', file], addresses[kind])).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining(`wrote ${file}`),
    });
    const $ = load(await readFile(file, 'utf8'));
    expect($('h1').text()).toBe('Sluice report');
    expect($('#spend-figures tfoot td').last().text()).toBe('450');
    expect($('#syncs-table tbody tr')).toHaveLength(2);
  });

  it('prints the page, or its figures as JSON', async () => {
    const page = await sluice(['report'], addresses[kind]);
    expect(page.out).toMatch(/^<!doctype html>\n[\s\S]*<\/html>\n$/);
    const { money, syncs } = JSON.parse((await sluice(['report', '--json'], addresses[kind])).out);
    expect(money.endpoints).toMatchObject([{ points: 270 }, { points: 180 }]);
    expect(syncs).toMatchObject([{ sync: 'filings' }, { sync: 'pages' }]);
  });
});

describe('sluice report', () => {
  it('of a warehouse that was never used says what to do', async () => {
    const { code, out } = await sluice(['report'], `embedded:${join(folder.path, 'none')}`);
    expect(code).toBe(0);
    expect(load(out)('#attention ~ p').text()).toBe('Nothing has run yet. Run sluice sync.');
  });

  it('names the file that it can’t write', async () => {
    const file = join(folder.path, 'no', 'such', 'folder.html');
    expect(await sluice(['report', '--output', file], addresses['embedded'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${file} can’t be written`),
    });
  });

  it('loads the chart library only for itself and the console', async () => {
    const isCharting = (path: string): boolean => /^(?:report|ui)\//.test(path);
    const users = (await sourceFiles()).filter(
      ({ path, imports }) => !isCharting(path) && imports.some(({ to }) => isCharting(to)),
    );
    expect(users.map(({ path }) => path)).toEqual([
      'cli/commands/report.ts',
      'cli/commands/ui/console-source.ts',
      'cli/commands/ui/ui.ts',
    ]);
    for (const { text } of users) expect(text).not.toMatch(/^import (?!type )[^;]*\/(?:report|ui)\/[^;]*;/m);
  });
});
