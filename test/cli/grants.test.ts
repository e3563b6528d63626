/** What `sluice grants` prints and asks for, as a command. */
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

const KEY = 'a masking key of this test';

async function grants(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const file = join(folder.path, 'sluice.yaml');
  await writeFile(
    file,
    'service: { url: "http://127.0.0.1:1" }\nwarehouse: { url: "embedded:memory://" }\nsyncs: { log: { endpoint: token.requests } }\n',
  );
  return runInProcess(['grants', '--config', file, '--without-personal', ...words], { env });
}

describe('grants without personal data', () => {
  it('prints statements for the role that do not contain the key', async () => {
    const { code, out, err } = await grants([], { SLUICE_MASKING_KEY: KEY });
    expect(code).toBe(0);
    expect(out).toContain('create or replace view "sluice_masked"."pronet_users"');
    expect(out).toContain('grant usage on schema "sluice_masked" to "sluice_masked_reader"');
    expect(out + err).not.toContain(KEY);
  });

  it('prints the names as they are, also if a password is equal to one of them', async () => {
    const { out } = await grants([], { PGPASSWORD: 'sluice' });
    expect(out).toContain('grant usage on schema "sluice_masked" to "sluice_masked_reader"');
  });

  it.each([
    [{}, 'SLUICE_MASKING_KEY is not set.'],
    [{ SLUICE_MASKING_KEY: 'short' }, 'SLUICE_MASKING_KEY has 5 of at least 16 characters.'],
    [{ SLUICE_MASKING_KEY_FILE: '/nowhere/at/all' }, 'SLUICE_MASKING_KEY_FILE names "/nowhere/at/all"'],
  ])('refuses to apply them with the environment %j, and names the next step', async (env, message) => {
    const { code, err } = await grants(['--apply'], env);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).toContain('openssl rand -hex 32');
  });

  it('refuses an embedded warehouse, in which no other role can log in', async () => {
    const { code, err } = await grants(['--apply'], { SLUICE_MASKING_KEY: KEY });
    expect(code).toBe(2);
    expect(err).toContain('An embedded warehouse has one user');
    expect(err).not.toContain(KEY);
  });
});
