/** Secrets stay out of everything that the program says and writes, wherever they come from: a list of ways to leak them. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { select } from '../flow/rows.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';
import { runInProcess } from './in-process.ts';
import { type Leak, leaks, PASSWORD, SPELLINGS, TOKEN } from './leaks.ts';
import { run, temporaryFolder } from './program-run.ts';

function expectNoSecret(text: string, where: string): void {
  for (const spelling of SPELLINGS) expect(text.includes(spelling), `${spelling} in ${where}`).toBe(false);
  const at = text.search(/canary/i);
  expect({ where, at, text: at < 0 ? undefined : text.slice(Math.max(0, at - 60), at + 66) }).toEqual({
    where,
    at: -1,
    text: undefined,
  });
}

const CONFIG = `
service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000 }
warehouse: { url: "\${DATABASE_URL}" }
syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] } } }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
let warehouse: Warehouse;
let refusing: Server;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
  warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
  // A pooler that repeats the address to connect to.
  refusing = createServer((socket) => {
    const said = `no route to postgres://user:${encodeURIComponent(PASSWORD)}@inner/w (${PASSWORD})`;
    const fields = Buffer.from(`SFATAL\0C08004\0M${said}\0\0`);
    const head = Buffer.from([0x45, 0, 0, 0, 0]);
    head.writeInt32BE(fields.length + 4, 1);
    socket.on('error', () => undefined).on('data', () => socket.end(Buffer.concat([head, fields])));
  });
  await new Promise<void>((resolve) => {
    refusing.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  refusing.close();
  await warehouse.close();
  await database.drop();
  await folder.remove();
});

/** All that the ledger and the machinery hold in words; what was paid for, and the tables made of it, is data. */
async function wordsOfLedger(): Promise<string> {
  const rows = await select(
    warehouse,
    operationsTables
      .map(
        ({ name }) =>
          `select (to_jsonb(t) - 'body' || case when '${name}' = 'requests' then to_jsonb(t) else '{}' end)::text as row from sluice_ops.${name} t`,
      )
      .join(' union all '),
  );
  return JSON.stringify(rows);
}

async function startService({
  reply,
  bytes,
}: Leak): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  if (bytes === undefined) {
    const sandbox: Sandbox = await serveSandbox({ token: TOKEN, ...(reply && { respond: () => reply }) });
    return sandbox;
  }
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', () => socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 20)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

describe('no secret is printed or written', () => {
  it('in 30 scenarios or more', () => expect(leaks.length).toBeGreaterThanOrEqual(30));

  it.each(leaks.map((it, index) => [it.what, it, index] as const))(
    '%s',
    { timeout: 120_000 },
    async (_, leak, index) => {
      const place = join(folder.path, String(index));
      await mkdir(place);
      const written = { 'sluice.yaml': CONFIG, ...leak.files };
      for (const [name, text] of Object.entries(written)) await writeFile(join(place, name), text);
      const service = await startService(leak);
      onTestFinished(() => service.close());
      await select(warehouse, 'truncate sluice_ops.runs, sluice_ops.answers cascade');
      if (leak.isFull) {
        await select(
          warehouse,
          "create function pg_temp_full() returns trigger language plpgsql as $$ begin raise exception 'full' using errcode = 'XX001'; end $$",
        );
        await select(
          warehouse,
          'create trigger full_up before insert on sluice_ops.answers for each row execute function pg_temp_full()',
        );
        onTestFinished(() => select(warehouse, 'drop function pg_temp_full cascade').then(() => undefined));
      }
      const env = Object.fromEntries(
        Object.entries({
          SLUICE_CONFIG: join(place, 'sluice.yaml'),
          SLUICE_SPOOL: join(place, 'spool'),
          SLUICE_SERVICE_URL: service.url,
          SLUICE_SERVICE_TOKEN: TOKEN,
          DATABASE_URL: database.url,
          ...leak.env,
        }).map(([name, value]) => [
          name,
          value
            .replace('%FOLDER%', place)
            .replace('%REFUSING%', `127.0.0.1:${(refusing.address() as AddressInfo).port}`),
        ]),
      );
      const output: string[] = [];
      const codes: number[] = [];
      for (const words of leak.runs) {
        const { code, out, err } = await runInProcess(words, { env });
        codes.push(code ?? -1);
        output.push(out, err);
        expectNoSecret(out, `stdout of ${words.join(' ')}`);
        expectNoSecret(err, `stderr of ${words.join(' ')}`);
      }
      expect({ code: codes[0], output: output.join('') }).toEqual({
        code: leak.code,
        output: expect.stringMatching(leak.says),
      });
      expectNoSecret(await wordsOfLedger(), 'the ledger');
      for (const name of await readdir(place, { recursive: true })) {
        if (Object.hasOwn(written, name)) continue;
        const text = await readFile(join(place, name), 'latin1').catch(() => '');
        expectNoSecret(`${name} ${text}`, `the file ${name}`);
      }
    },
  );
});

describe('the program itself', () => {
  it('keeps a secret of a file out of what it says, into a pipe and as JSON', async () => {
    const sandbox = await serveSandbox({
      token: TOKEN,
      respond: () => ({ status: 401, body: { detail: `refused ${TOKEN} and ${encodeURIComponent(TOKEN)}` } }),
    });
    onTestFinished(() => sandbox.close());
    await select(warehouse, 'truncate sluice_ops.runs, sluice_ops.answers cascade');
    await writeFile(join(folder.path, 'token'), `${TOKEN}\n`);
    await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
    const ran = await run(['sync', '--json', '--verbose'], {
      cwd: folder.path,
      env: {
        SLUICE_SERVICE_URL: sandbox.url,
        SLUICE_SERVICE_TOKEN_FILE: join(folder.path, 'token'),
        DATABASE_URL: database.url,
      },
    });
    expect(ran.code).toBe(3);
    expect(ran.out).toContain('refused [secret] and [secret]');
    expectNoSecret(`${ran.out}${ran.err}`, 'its output');
  });
});

it('a token and a password from variables of any name are redacted in errors', async () => {
  const config = join(folder.path, 'own-names.yaml');
  await writeFile(config, CONFIG.replace('SLUICE_SERVICE_TOKEN', 'OWN_TOKEN').replace('DATABASE_URL', 'OWN_DATABASE'));
  const token = 'own-token-of-the-service';
  const env = { SLUICE_SERVICE_URL: 'http://127.0.0.1:9', OWN_TOKEN: token, OWN_DATABASE: database.url };
  for (const secret of [token, decodeURIComponent(new URL(database.url).password)]) {
    const { err } = await runInProcess(['query', `select "${secret}"`, '--config', config], { env });
    expect(err).toContain('does not exist');
    expect(err).not.toContain(secret);
  }
});
