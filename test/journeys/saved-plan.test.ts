/** A plan that was saved: a run of it sends exactly its requests, or says what moved and sends nothing. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DAY_MS } from '../../src/day.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import { openHooks } from '../alerts/hooks.ts';
import { runInProcess } from '../cli/in-process.ts';
import { BUSY } from '../flow/filings.ts';
import { SMALL } from '../flow/scene.ts';
import { freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';

const GROUPS = '  groups: { endpoint: pronet.group, for_each: { group: { file: groups.txt } } }\n';

/** A command line over a sandbox and a warehouse of its own. `file` is in the folder of the config. */
async function setUp(syncs: string, kind: 'postgres' | 'embedded' = 'postgres', options: SandboxOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-saved-'));
  const started = Date.now();
  let laterMs = 0;
  const now = (): Date => new Date(Date.parse('2026-05-04T12:00:00Z') + laterMs + Date.now() - started);
  const database = kind === 'embedded' ? undefined : await freshDatabase(await postgresTemplate());
  if (kind === 'embedded') await copyEmbedded(join(folder, 'data'));
  const sandbox = await serveSandbox({ seed: 7, size: { ...SMALL, ...BUSY }, token: 'sandbox-token', now, ...options });
  onTestFinished(async () => {
    await sandbox.close();
    await database?.drop();
    await rm(folder, { recursive: true });
  });
  const file = (name: string): string => join(folder, name);
  const write = (text: string): Promise<void> =>
    writeFile(
      file('sluice.yaml'),
      `service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 100000, in_flight: 2 }
warehouse: { url: "\${DATABASE_URL}" }
syncs:
${text}`,
    );
  await write(syncs);
  await writeFile(file('groups.txt'), '1001\n1002\n1003\n');
  const env: Record<string, string> = {
    SLUICE_CONFIG: file('sluice.yaml'),
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: 'sandbox-token',
    DATABASE_URL: database?.url ?? `embedded:${join(folder, 'data')}`,
    CI: '1',
  };
  let seen = 0;
  const run = (...words: string[]) => runInProcess(words, { env, now });
  return {
    env,
    file,
    write,
    run,
    later: (ms: number): void => {
      laterMs += ms;
    },
    /** The cost of all requests, also of those that read the log. */
    spent: () => sandbox.requests().reduce((sum, { cost }) => sum + cost, 0),
    /** Paid requests that arrived since this was last called. */
    arrived: () => {
      const all = sandbox.requests().filter(({ endpoint }) => endpoint !== 'token.requests');
      const fresh = all.slice(seen);
      seen = all.length;
      return fresh;
    },
    save: async (...words: string[]): Promise<string> => {
      const { code, out, err } = await run('plan', '--output', file('plan.json'), ...words);
      expect({ code, err }).toMatchObject({ code: 0 });
      return out;
    },
    apply: (...words: string[]) => run('sync', '--plan', file('plan.json'), ...words),
  };
}
type SavedScene = Awaited<ReturnType<typeof setUp>>;

/** Runs the plan, expects that nothing was sent, and returns what the message says. */
async function refusal({ apply, arrived }: SavedScene): Promise<string> {
  const { code, err } = await apply();
  expect([code, arrived()]).toEqual([2, []]);
  expect(err).toContain('Nothing was sent. Make a new plan with sluice plan --output FILE, and review it.');
  return err;
}

describe.each(['postgres', 'embedded'] as const)('a saved plan (%s)', { timeout: 240_000 }, (kind) => {
  it('is run once: exactly its requests are sent, and a second run of it is refused', async () => {
    const scene = await setUp(`${GROUPS}  costs: { endpoint: token.requests, after: [groups] }\n`, kind);
    const out = await scene.save();
    expect(out).toContain(`next: sluice sync --plan ${scene.file('plan.json')}\n`);
    expect(out).toContain(`Saved in ${scene.file('plan.json')}: a run of it spends at most 3 points.`);
    const { code, err } = await scene.apply();
    expect([code, err.includes('error')]).toEqual([0, false]);
    expect(
      scene
        .arrived()
        .map(({ body }) => (body as { group: string }).group)
        .toSorted(),
    ).toEqual(['1001', '1002', '1003']);
    expect(await refusal(scene)).toMatch(/groups: runs: the newest was none and is now \d+; a plan is run once/);
  });
});

describe('a saved plan is refused', () => {
  it('after the input file changed, and names what was added and removed', async () => {
    const scene = await setUp(GROUPS);
    await scene.save();
    await writeFile(scene.file('groups.txt'), '1001\n1003\n1004\n');
    expect(await refusal(scene)).toContain(
      'groups: inputs: 3 planned, 3 now; added: {"group":"1004"}; removed: {"group":"1002"}',
    );
    await writeFile(scene.file('groups.txt'), '1003\n1002\n1001\n');
    expect((await scene.apply()).code).toBe(0);
    expect(scene.arrived()).toHaveLength(3);
  });

  it('if another run bought one of its answers, or if one expired', async () => {
    const scene = await setUp(
      `${GROUPS.replace(' }\n', ', max_age: 2h }\n')}  other: { endpoint: pronet.group, for_each: { group: ["1002"] } }\n`,
    );
    await scene.save('groups');
    expect((await scene.run('sync', 'other')).code).toBe(0);
    expect(scene.arrived()).toHaveLength(1);
    expect(await refusal(scene)).toContain('groups: requests to send: 3 planned, 2 now; removed: {"group":"1002"}');
    await scene.save('groups');
    scene.later(3 * 3_600_000);
    expect(await refusal(scene)).toContain('groups: requests to send: 2 planned, 3 now; added: {"group":"1002"}');
  });

  it('if the definition, the price or a name in the config changed', async () => {
    const scene = await setUp(GROUPS);
    await scene.save();
    await scene.write(GROUPS.replace(' }\n', ', max_age: 1d }\n'));
    expect(await refusal(scene)).toContain('groups: definition: the config changed');
    await scene.write(`${GROUPS}prices: { pronet.group: 4 }\n`);
    expect(await refusal(scene)).toContain(
      'groups: prices: the plan costs 12 to 12 points at the prices of now, and 3 to 3 points when it was made',
    );
    await scene.write(GROUPS.replace('groups:', 'clubs:'));
    expect(await refusal(scene)).toContain('groups: the config has no such sync');
  });

  it('if the request log showed another price since', async () => {
    const scene = await setUp(
      `${GROUPS}  costs: { endpoint: token.requests }\n  other: { endpoint: pronet.group, for_each: { group: ["1", "2", "3"] } }\n`,
      'postgres',
      {
        prices: { 'pronet.group': { points: 7 } },
        respond: ({ endpoint, body }) =>
          endpoint === 'pronet.group'
            ? { body: [{ urn: { type: 'group', value: (body as { group: string }).group }, name: 'a', url: 'u' }] }
            : undefined,
      },
    );
    await scene.save('groups');
    expect((await scene.run('sync', 'other')).code).toBe(0);
    expect((await scene.run('sync', 'costs')).code).toBe(0);
    scene.arrived();
    expect(await refusal(scene)).toContain(
      'groups: prices: the plan costs 21 to 21 points at the prices of now, and 3 to 3 points when it was made',
    );
  });

  it('on the next day, if it requests days up to the present, and otherwise not', async () => {
    const days = (name: string, window: string): string =>
      `  ${name}: { endpoint: sec.search.companies, request: { count: 50 }, window: ${window} }\n`;
    const scene = await setUp(
      `${days('filings', '{ from: 2026-05-01 }')}${days('past', '{ from: 2026-04-01, to: 2026-04-03 }')}${GROUPS}`,
    );
    await scene.save();
    scene.later(DAY_MS);
    const said = await refusal(scene);
    expect(said).toContain('filings: day: the plan requests days up to 2026-05-04, and today is 2026-05-05');
    expect(said).not.toMatch(/past:|groups:/);
  });

  it('at another address of the service or of the warehouse, and the file shows neither', async () => {
    const scene = await setUp(GROUPS);
    await scene.save();
    const text = await readFile(scene.file('plan.json'), 'utf8');
    for (const secret of Object.values(scene.env).filter((it) => it.length > 3)) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/postgres|127\.0\.0\.1|localhost/);
    const { SLUICE_SERVICE_URL: url = '' } = scene.env;
    scene.env['SLUICE_SERVICE_URL'] = `${url}/v2`;
    expect(await refusal(scene)).toContain('service: the config names another address');
    scene.env['SLUICE_SERVICE_URL'] = url;
    const other = await freshDatabase(await postgresTemplate());
    onTestFinished(() => other.drop());
    scene.env['DATABASE_URL'] = other.url;
    expect(await refusal(scene)).toContain('warehouse: the config names another database or schema');
  });

  it.each([
    ['{', 'this is not JSON'],
    ['{"syncs": []}', 'this is not a saved plan'],
    ['{"savedPlan": 2}', 'the plan has version 2; allowed is version 1'],
    ['{"savedPlan": 1, "madeAt": "yesterday"}', 'the plan was changed by hand: madeAt'],
  ])('if its file is %s', async (content, found) => {
    const scene = await setUp(GROUPS);
    await writeFile(scene.file('plan.json'), content);
    const { code, err } = await scene.apply();
    expect([code, scene.arrived()]).toEqual([2, []]);
    expect(err).toContain(found);
  });

  it('if its file does not exist, or with a flag that would change it', async () => {
    const scene = await setUp(GROUPS);
    expect(await scene.apply()).toMatchObject({ code: 2, err: expect.stringContaining("can't be read (ENOENT)") });
    await scene.save();
    for (const words of [['groups'], ['--refresh'], ['--from', '2026-01-01']])
      expect(await scene.apply(...words)).toMatchObject({
        code: 2,
        err: expect.stringContaining('the saved plan sets them'),
      });
    expect(scene.arrived()).toEqual([]);
  });
});

describe('a run of a saved plan', () => {
  it('leaves out syncs whose queries read what the plan loads first', async () => {
    const scene =
      await setUp(`  people: { endpoint: pronet.search.users, request: { count: 10 }, for_each: { title: [engineer] } }
  schools:
    endpoint: pronet.user.education
    after: [people]
    request: { count: 10 }
    for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users" } }
`);
    const out = await scene.save();
    expect(out).toContain(
      'schools is not part of the saved plan: its query may read rows that people would load first, so its requests are not known yet.',
    );
    const { code, out: summary } = await scene.apply('--json');
    expect(code).toBe(0);
    expect((JSON.parse(summary) as { syncs: { sync: string }[] }).syncs.map(({ sync }) => sync)).toEqual(['people']);
    expect(new Set(scene.arrived().map(({ endpoint }) => endpoint))).toEqual(new Set(['pronet.search.users']));
    // Now the inputs are known, so a plan of the child alone can be saved and run.
    await scene.save('schools');
    expect((await scene.apply()).code).toBe(0);
    expect(scene.arrived().length).toBeGreaterThan(0);
  });

  it('does not start a sync whose inputs changed while the plan ran', async () => {
    let change = async (): Promise<void> => undefined;
    const users = '  users: { endpoint: microblog.user, after: [groups], for_each: { user: { file: users.txt } } }\n';
    const scene = await setUp(`${GROUPS}${users}`, 'postgres', {
      respond: async () => {
        await change();
        return undefined;
      },
    });
    await writeFile(scene.file('users.txt'), 'one\ntwo\n');
    await scene.save();
    change = () => writeFile(scene.file('users.txt'), 'one\nthree\n');
    const { code, out } = await scene.apply();
    expect([code, new Set(scene.arrived().map(({ endpoint }) => endpoint))]).toEqual([2, new Set(['pronet.group'])]);
    expect(out).toContain('users: the requests changed while the plan ran: 2 of 2 were to be sent, 2 of 2 now');
    expect(
      await scene.run('query', '--json', "select count(*)::int as runs from sync_runs where sync = 'users'"),
    ).toMatchObject({
      out: expect.stringContaining('"runs": 0'),
    });
  });

  it('does not start a sync that another process ran while the plan ran', async () => {
    let act = async (): Promise<void> => undefined;
    const users = '  users: { endpoint: microblog.user, after: [groups], for_each: { user: [one, two] } }\n';
    const scene = await setUp(`${GROUPS}${users}`, 'postgres', {
      respond: async () => {
        const once = act;
        act = async () => undefined;
        await once();
        return undefined;
      },
    });
    await scene.save();
    act = async () => void (await scene.run('sync', 'users'));
    const { code, out } = await scene.apply();
    expect([code, scene.arrived().filter(({ endpoint }) => endpoint === 'microblog.user').length]).toEqual([2, 2]);
    expect(out).toMatch(/users: the newest run was none and is now \d+; a plan is run once/);
  });

  it('sends a request of two syncs once', async () => {
    const shared = GROUPS.replace(' }\n', ', max_age: 1d }\n');
    const scene = await setUp(`${shared}${shared.replace('groups:', 'clubs:')}`);
    await scene.save();
    const { code } = await scene.apply();
    expect([code, scene.arrived().length]).toEqual([0, 3]);
  });

  it.each([{ limit: [] }, { limit: ['--limit', '3'] }])(
    'serves a sync whose answers an earlier sync of the plan buys again ($limit)',
    async ({ limit }) => {
      const aged = GROUPS.replace(' }\n', ', max_age: 1d }\n').replace('groups:', 'aged:');
      const scene = await setUp(`${GROUPS}${aged}`);
      expect((await scene.run('sync', 'aged')).code).toBe(0);
      scene.arrived();
      await writeFile(scene.file('groups.txt'), '1001\n1002\n1003\n1004\n');
      await scene.save(...limit);
      const { code, out } = await scene.apply();
      expect({ code, out }).toMatchObject({ code: 0 });
      const groups = scene.arrived().map(({ body }) => (body as { group: string }).group);
      expect(groups.toSorted()).toEqual(['1001', '1002', '1003', '1004']);
    },
  );

  it('is not refused because an earlier sync of the plan got an unreadable answer to a request of both', async () => {
    const group = 'endpoint: pronet.group, for_each: { group: ["1001"] }';
    const service = { isBroken: false };
    const scene = await setUp(`  a: { ${group} }\n  b: { ${group}, max_age: 1d }\n`, 'postgres', {
      respond: () => (service.isBroken ? { body: '<html>' } : undefined),
    });
    expect((await scene.run('sync', 'b')).code).toBe(0);
    scene.arrived();
    await scene.save();
    service.isBroken = true;
    const { code, out } = await scene.apply();
    expect({ code, sent: scene.arrived().length, out }).toMatchObject({ code: 4, sent: 1 });
  });

  it('serves the parts of a full answer that an earlier sync of the plan buys', async () => {
    const filings = `endpoint: sec.search.companies
    for_each: { forms: ["10-K"] }
    request: { count: 5 }
`;
    const split = '    split_by: { location_codes: [CA, NY, TX] }\n';
    const scene = await setUp(`  first:\n    ${filings}`);
    expect((await scene.run('sync')).code).toBe(0);
    await scene.write(`  first:\n    ${filings}${split}  second:\n    ${filings}${split}    max_age: 1d\n`);
    scene.arrived();
    await scene.save();
    const { code, out } = await scene.apply();
    expect({ code, out }).toMatchObject({ code: 0 });
    const bodies = scene.arrived().map(({ body }) => canonicalJson(body));
    expect(bodies.length).toBeGreaterThan(3);
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  it('with a limit sends a request of two syncs once', async () => {
    const groups = 'endpoint: pronet.group, for_each: { group: ["1001", "1002"] }, max_age: 1d';
    const scene = await setUp(`  a: { ${groups} }\n  b: { ${groups} }\n`);
    await scene.save('--limit', '1');
    const { code } = await scene.apply();
    expect([code, scene.arrived().length]).toEqual([0, 1]);
  });

  it('stays within its points when full answers are split, and sends only parts of its questions', async () => {
    const scene = await setUp(`  filings:
    endpoint: sec.search.companies
    for_each: { forms: ["10-K", "8-K"] }
    request: { count: 5 }
    split_by: { location_codes: [CA, NY, TX] }
`);
    const { saved } = JSON.parse(await scene.save('--json')) as { saved: { most: number } };
    const { code } = await scene.apply();
    const sent = scene.arrived();
    expect(code).toBe(0);
    expect(sent.length).toBeGreaterThan(2);
    expect(sent.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(saved.most);
    for (const { body } of sent)
      expect(['["10-K"]', '["8-K"]']).toContain(canonicalJson((body as { forms: string[] }).forms));
  });

  it('stops at its points if the service charges more than the plan says', async () => {
    const scene = await setUp(GROUPS, 'postgres', { prices: { 'pronet.group': { points: 2 } } });
    await scene.save();
    const { code, out } = await scene.apply();
    const sent = scene.arrived();
    expect(code).toBe(6);
    expect(sent.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(3);
    expect(out).toContain('the most of the saved plan is 3 points');
  });

  it('stays within its points if reading the log costs points too, and leaves the rest planned', async () => {
    const scene = await setUp(`${GROUPS}prices: { token.requests: 1 }\n`, 'postgres', {
      prices: { 'token.requests': { points: 1 } },
    });
    const { saved } = JSON.parse(await scene.save('--json')) as { saved: { most: number } };
    const { code, out } = await scene.apply();
    expect([code, saved.most]).toEqual([6, 3]);
    expect(out).toContain('the most of the saved plan is 3 points');
    expect(scene.spent()).toBeLessThanOrEqual(saved.most + 1);
  });

  it('with a limit is a sample, so it changes no alert', async () => {
    let isRefused = true;
    const hooks = await openHooks();
    onTestFinished(() => hooks.close());
    const scene = await setUp(`${GROUPS}alerts: { webhook: "\${HOOK}" }\n`, 'postgres', {
      respond: () => (isRefused ? { status: 403, body: '{}' } : undefined),
    });
    scene.env['HOOK'] = hooks.url;
    const sent = (): string[] =>
      hooks.taken
        .map(({ body }) => body as { readonly kind: string; readonly state: string })
        .map(({ kind, state }) => `${kind} ${state}`)
        .toSorted();
    expect((await scene.run('sync')).code).toBe(4);
    expect(sent()).toEqual(['access raised', 'partial raised']);
    isRefused = false;
    scene.arrived();
    await scene.save('--limit', '1');
    expect((await scene.apply()).code).toBe(0);
    expect(scene.arrived()).toHaveLength(1);
    expect(sent()).toEqual(['access raised', 'partial raised']);
    expect((await scene.run('sync')).code).toBe(0);
    expect(sent()).toEqual(['access cleared', 'access raised', 'partial cleared', 'partial raised']);
  });

  it('continues the run that the plan continues, and no other', async () => {
    const scene = await setUp(GROUPS);
    expect((await scene.run('sync', '--max-points', '1')).code).toBe(6);
    expect(scene.arrived()).toHaveLength(1);
    expect(await scene.save()).toContain('the remaining requests of run');
    expect((await scene.apply()).code).toBe(0);
    expect(scene.arrived()).toHaveLength(2);
  });
});
