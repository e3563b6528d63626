/** What `sluice plan` says below its table: what the figures leave out, where a run would stop, what to do next. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

const FILINGS = `  filings: { endpoint: sec.search.companies, request: { count: 10 }, window: { from: 2024-01-01 } }
`;
const SYNCS = `syncs:
  people: { endpoint: pronet.search.users, request: { count: 10 }, for_each: { title: [one, two, three] } }
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 10 }
    for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users" } }
`;

async function plan(head: string, words: readonly string[], syncs = SYNCS, price = '2') {
  const config = join(folder.path, 'sluice.yaml');
  await writeFile(config, `${head}prices: { pronet.search.users: ${price} }\n${syncs}`);
  const env = { SLUICE_CONFIG: config, DATABASE_URL: database.url };
  return runInProcess(['plan', ...words], { env });
}

async function planned(head: string, words: readonly string[] = [], syncs = SYNCS, price = '2'): Promise<string[]> {
  const { code, out, err } = await plan(head, words, syncs, price);
  expect([code, err]).toEqual([0, '']);
  return out.trimEnd().split('\n').slice(2);
}

describe('a plan', () => {
  it('names the syncs whose inputs other syncs load first, and how to run it', async () => {
    expect((await planned('')).slice(3)).toEqual([
      expect.stringMatching(/^2 syncs would send 3 requests for at most 6 points \(a guess/),
      'schools reads rows that people would load first: this plan uses the current rows.',
      'next: sluice sync',
    ]);
  });

  it('names a sync whose inputs a sync loads that waits for another', async () => {
    const third = `  groups:
    endpoint: pronet.group
    after: [schools]
    for_each: { group: { query: "select company_urn_value from sluice.pronet_user_educations" } }
`;
    expect(await planned('', [], `${SYNCS}${third}`)).toEqual(
      expect.arrayContaining([
        'schools reads rows that people would load first: this plan uses the current rows.',
        'groups reads rows that schools would load first: this plan uses the current rows.',
      ]),
    );
  });

  it('repeats its own flags in the next step, with the limit that a run would reach', async () => {
    expect((await planned('budget: { per_run: 5 }\n', ['people'])).slice(2)).toEqual([
      expect.stringMatching(/^1 sync would send 3 requests for at most 6 points/),
      'A run stops at 5 points (budget.per_run); the remaining requests stay planned.',
      'next: sluice sync people',
    ]);
    expect(await planned('budget: { per_run: 6 }\n', ['people'])).not.toContainEqual(
      expect.stringContaining('A run stops'),
    );
  });

  it('says which requests an earlier sync sends too, if its answers may serve', async () => {
    const sync = (name: string, titles: string, more = ''): string =>
      `  ${name}: { endpoint: pronet.search.users, request: { count: 10 }, for_each: { title: [${titles}] }${more} }\n`;
    const syncs = `syncs:\n${sync('first', 'one, two')}${sync('second', 'two, three', ', max_age: 7d')}${sync('third', 'one')}`;
    const lines = await planned('', [], syncs);
    expect(lines).toContain(
      'second: an earlier sync sends 1 request of this one too; a run sends each once, and each quote includes it.',
    );
    expect(lines.filter((line) => line.includes('an earlier sync sends'))).toHaveLength(1);
  });

  it('counts all requests that an earlier sync sends too, whatever their number', async () => {
    const groups = Array.from({ length: 1500 }, (_, at) => 1001 + at);
    const sync = (name: string, from: number): string =>
      `  ${name}: { endpoint: pronet.group, max_age: 7d, for_each: { group: ${JSON.stringify(groups.slice(from).map(String))} } }\n`;
    const lines = await planned('', [], `syncs:\n${sync('first', 0)}${sync('second', 0)}${sync('third', 600)}`);
    expect(lines.filter((line) => line.includes('an earlier sync sends'))).toEqual([
      expect.stringContaining('second: an earlier sync sends 1,500 requests'),
      expect.stringContaining('third: an earlier sync sends 900 requests'),
    ]);
  });

  it('explains each request instead of the quote', async () => {
    const syncs = SYNCS.replace('[one, two, three] }', '[one, two] }, max_age: 7d');
    expect(await planned('', ['--explain'], syncs)).toEqual([
      expect.stringMatching(/^people +\{"count":10,"title":"one"\} +send +7 d +no answer of this age$/),
      expect.stringMatching(/^people +\{"count":10,"title":"two"\} +send +7 d +no answer of this age$/),
    ]);
    expect(await planned('', ['--explain'])).toHaveLength(3);
    expect((await planned('', ['--explain']))[0]).toMatch(/send +none +no max_age$/);
  });

  it('repeats its own flags in the next step', async () => {
    const filings = `syncs:\n${FILINGS}`;
    const words = ['--refresh', '--from', '2024-02-01', '--to', '2024-02-03', 'filings'];
    expect((await planned('', words, filings)).at(-1)).toBe(
      'next: sluice sync --refresh --from 2024-02-01 --to 2024-02-03 filings',
    );
  });

  it('of days leaves out syncs on which they have no effect, and refuses them by name', async () => {
    for (const words of [
      ['--from', '2024-02-01'],
      ['--to', '2024-02-03', '--explain'],
    ]) {
      const { code, out, err } = await plan('', words, SYNCS + FILINGS);
      expect([code, out]).toEqual([0, expect.stringContaining('filings')]);
      expect(out).not.toMatch(/^(people|schools)/m);
      expect(err.split('\n')).toEqual(
        ['people', 'schools']
          .map((sync) => `warn: left out, because --from and --to have no effect on its requests (sync=${sync})`)
          .concat(''),
      );
      expect(await plan('', [...words, 'filings', 'people'], SYNCS + FILINGS)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('--from and --to have no effect on people'),
      });
    }
  });

  it('of answers that may be full reaches up to all their parts', async () => {
    const growing = SYNCS.replace('request: { count: 10 }', 'raise_count_to: 100, request: { count: 10 }');
    const [, , sentence] = await planned('', ['people'], growing);
    // Each of three inputs may be requested with 10, 40 and 100.
    expect(sentence).toMatch(
      /^1 sync would send 3 requests for at most 18 points \(likely 6; a guess: .*Full answers are split and requested in parts: at most 9 requests\.$/,
    );
  });

  it('shows no minimum time for one request, which does not wait', async () => {
    const one = SYNCS.replace('[one, two, three]', '[one]');
    const [row, , sentence] = await planned('', ['people'], one);
    expect(row).toMatch(/guess$/);
    expect(sentence).toMatch(/^1 sync would send 1 request for at most 2 points \([^)]*\)\.$/);
  });

  it('without an input has nothing to send, and no next step', async () => {
    expect((await planned('', ['schools'])).slice(2)).toEqual(['Nothing to send: there are no inputs.']);
  });

  it('with --failed says that nothing failed', async () => {
    expect((await planned('', ['people', '--failed'])).slice(2)).toEqual([
      'Nothing to send: nothing failed in the last runs.',
    ]);
  });
});
