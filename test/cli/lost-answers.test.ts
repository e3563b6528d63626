/** What the commands report about lost answers and the request log, for people and monitors. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lostAnswerLines } from '../../src/cli/text/listed-lines.ts';
import type { LostAnswerSummary, Summary } from '../../src/ledger/summary.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import type { Ran } from './program-run.ts';

/** What a terminal would obey. */
const HOSTILE = 'a\u001b[2Jb\u202ec';

describe('sync and status', () => {
  let folder: string;
  let sandbox: Sandbox;
  let database: FreshDatabase;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-lost-'));
    database = await freshDatabase(await postgresTemplate());
    sandbox = await serveSandbox({
      token: 'sandbox-token',
      faults: [{ on: { endpoint: 'pronet.group', nth: 2 }, do: { kind: 'cut', afterBytes: 5 } }],
      respond: ({ endpoint }) =>
        endpoint === 'pronet.group'
          ? { body: [{ urn: { type: 'group', value: '1' }, name: 'x', url: 'https://example.com/x', member_count: 1 }] }
          : undefined,
    });
    await writeFile(
      join(folder, 'sluice.yaml'),
      [
        'service: { url: "${SLUICE_SERVICE_URL}", token: "${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000, in_flight: 1 }',
        'warehouse: { url: "${DATABASE_URL}" }',
        'syncs:',
        `  groups: { endpoint: pronet.group, for_each: { group: ["1", ${JSON.stringify(HOSTILE)}, "3"] } }`,
        '  costs: { endpoint: token.requests, after: [groups] }',
      ].join('\n'),
    );
  });
  afterAll(async () => {
    await sandbox.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  const sluice = (...words: readonly string[]): Promise<Ran> =>
    runInProcess(words, {
      env: {
        SLUICE_CONFIG: join(folder, 'sluice.yaml'),
        SLUICE_SERVICE_URL: sandbox.url,
        SLUICE_SERVICE_TOKEN: 'sandbox-token',
        DATABASE_URL: database.url,
      },
    });

  it('name each lost answer, and show how the log agrees with the ledger once it was read', async () => {
    const before = await sluice('status', '--json');
    expect(JSON.parse(before.out)).not.toHaveProperty('reconciliation');

    const synced = await sluice('sync', 'groups');
    expect(synced.code).toBe(0);
    expect(synced.out).toMatch(/^lost: groups \{"group":".*"\}, attempt 1 at \S+Z \(.*\): paid, 1 point$/m);
    expect(synced.out).not.toContain('\u001b[2J');
    expect(synced.out).not.toContain('\u202e');

    const again = await sluice('sync', '--json');
    expect((JSON.parse(again.out) as Summary).syncs.map(({ lostAnswers }) => lostAnswers)).toEqual([[], []]);

    const status = JSON.parse((await sluice('status', '--json')).out) as { syncs: { sync: string }[] };
    expect(status.syncs.map(({ sync }) => sync)).toEqual(['costs', 'groups']);
    expect(status).toMatchObject({
      reconciliation: {
        logged: 7,
        matched: 7,
        ambiguous: 0,
        chargedButLost: { rows: 1, points: 1 },
        others: { rows: 0, points: 0 },
      },
    });
    expect((await sluice('status')).out).toMatch(
      /^7 rows of the request log since \d{4}-\d{2}-\d{2}: 7 matched, 1 charged but lost \(1 point\)$/m,
    );
  });
});

describe('the lines of lost answers', () => {
  const doubt = (more: Partial<LostAnswerSummary> = {}): LostAnswerSummary => ({
    requestId: '1',
    attempt: 2,
    input: { group: 'g' },
    sentAt: '2026-03-06T15:00:00.000Z',
    reason: 'cut',
    verdict: null,
    points: null,
    ...more,
  });
  const line = (more: Partial<LostAnswerSummary>): string | undefined =>
    lostAnswerLines([{ sync: 'groups', lostAnswers: [doubt(more)] }])[0];

  it.each([
    ['paid_and_lost', 3, 'paid, 3 points'],
    ['not_charged', 0, 'not charged'],
    ['not_sent', 0, 'never reached the service'],
    ['unknown', null, 'the request log does not show whether it was paid'],
    [null, null, 'may have been paid; the request log was not checked'],
  ] as const)('say of %s what it means', (verdict, points, said) => {
    expect(line({ verdict, points })).toBe(
      `lost: groups {"group":"g"}, attempt 2 at 2026-03-06T15:00:00.000Z (cut): ${said}\n`,
    );
  });

  it('are at most 20, and none is long', () => {
    const lines = lostAnswerLines([
      { sync: 'groups', lostAnswers: Array.from({ length: 23 }, () => doubt({ input: 'x'.repeat(9000) })) },
    ]);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('and 3 more lost answers\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(300);
    expect(lostAnswerLines([])).toEqual([]);
  });
});
