/** The command `marks`: what it shows, what a reset reports, and what it refuses. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveSandbox, type Sandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { SMALL } from '../flow/scene.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import type { Ran } from './program-run.ts';

const CONFIG = `syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 100 }
    for_each: { entity_name: [AAPL, MSFT] }
    window: { from: 2024-01-01, to: 2024-01-31 }
    max_age: 30d
  groups: { endpoint: pronet.group, for_each: { group: ["1001"] } }
`;

let folder: string;
let sandbox: Sandbox;
let database: FreshDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-marks-'));
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  sandbox = await serveSandbox({ size: SMALL, token: SANDBOX_TOKEN });
  database = await freshDatabase(await postgresTemplate());
  expect((await sluice(['sync', '--quiet'])).code).toBe(0);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const sluice = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runInProcess(words, {
    env: {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: database.url,
      ...env,
    },
  });

interface Listed {
  readonly sync: string;
  readonly marks: readonly { readonly input: unknown; readonly known: unknown; readonly resetAt: string | null }[];
}
const listed = async (): Promise<readonly Listed[]> => JSON.parse((await sluice(['marks', '--json'])).out) as never;

describe('marks', () => {
  it('lists each input with what is known and requested next, as status --marks does', async () => {
    const { code, out } = await sluice(['marks']);
    expect(code).toBe(0);
    expect(out).toMatch(/^sync +input +known +as of +unreadable +next request +reset$/m);
    expect(out).toMatch(/^filings +AAPL +2024-01-01 to 2024-01-31 +20\S+Z +0 +nothing$/m);
    expect((await sluice(['status', '--marks'])).out).toContain(out);
    const { marks } = JSON.parse((await sluice(['status', '--marks', '--json'])).out) as { readonly marks: unknown };
    expect(marks).toEqual(await listed());
    expect((await sluice(['status', '--json'])).out).not.toContain('"marks"');
  });

  it('shows what a reset means, and resets only with --yes', async () => {
    const before = await listed();
    const preview = await sluice(['marks', 'reset', 'filings', 'MSFT']);
    expect(preview.code).toBe(0);
    expect(preview.out).toMatch(/^input +known up to +would be$/m);
    expect(preview.out).toMatch(/^MSFT +2024-01-31 +nothing$/m);
    expect(preview.out).toMatch(
      /^the next run of filings would send \d+ requests?, likely .* points?, at most \d+; without the reset 0 requests, likely 0 points, at most 0\nnothing was reset; add --yes to reset\n$/m,
    );
    expect(await listed()).toEqual(before);

    const done = await sluice(['marks', 'reset', 'filings', 'MSFT', '--yes', '--json']);
    expect(JSON.parse(done.out)).toMatchObject({ sync: 'filings', dryRun: false, reset: [{ after: null }] });
    const [filings] = await listed();
    expect(filings?.marks.map(({ known, resetAt }) => [known === null, resetAt === null])).toEqual([
      [false, true],
      [true, false],
    ]);
    const { out } = await sluice(['marks', 'reset', 'filings', 'MSFT', '--yes']);
    expect(out).toBe('nothing to reset: no watermark of filings is later\n');
  });

  it.each([
    [['marks', 'reset'], 'reset needs the name of a sync'],
    [['marks', 'list', 'filings', 'AAPL'], 'an input, --to and --yes are only allowed with reset'],
    [['marks', '--yes'], 'an input, --to and --yes are only allowed with reset'],
    [['marks', 'reset', 'filigns'], 'did you mean "filings"?'],
    [['marks', 'reset', 'filings', 'msfd'], 'did you mean "MSFT"?'],
    [['marks', 'reset', 'groups'], 'run sluice sync --refresh groups'],
    [['marks', 'reset', 'filings', '--to', '2024-02-30'], '2024-02-30'],
  ] as const)('%j is refused with the next step', async (words, found) => {
    const { code, out, err } = await sluice(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(found);
  });
});
