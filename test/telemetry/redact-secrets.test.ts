/** Secrets by value, in every form in which they might be written. */
import { describe, expect, it } from 'vitest';
import { createRedactor, passwordsIn, secretsIn } from '../../src/telemetry/redact-secrets.ts';

const PASSWORD = 'p@ss/w"örd%41';

describe('createRedactor', () => {
  it.each([
    ['as it is', PASSWORD],
    ['URL-encoded', encodeURIComponent(PASSWORD)],
    ['inside JSON', JSON.stringify({ password: PASSWORD })],
    ['inside JSON inside JSON’s text, encoded', JSON.stringify(encodeURIComponent(PASSWORD))],
  ])('takes a secret out %s', (_form, text) => {
    const { redact } = createRedactor([PASSWORD]);
    expect(redact(`before ${text} after ${text}`)).not.toMatch(/p@ss|p%40ss|w"|w\\"|rd%/);
    expect(redact(`before ${text} after`)).toMatch(/^before .*\[redacted\].* after$/);
  });

  it('takes out what was written encoded in the address, decoded too', () => {
    const passwords = passwordsIn('postgres://user:p%40ssword@host/db');
    expect(createRedactor(passwords).redact('p%40ssword p@ssword')).toBe('[redacted] [redacted]');
  });

  it('learns secrets later, and removes the longest of two completely', () => {
    const redactor = createRedactor(['token']);
    redactor.add('token-with-more');
    expect(redactor.redact('token-with-more token')).toBe('[redacted] [redacted]');
  });

  it('leaves text unchanged without secrets, and for values too short to be one', () => {
    expect(createRedactor().redact('abc')).toBe('abc');
    expect(createRedactor(['', 'a']).redact('a banana')).toBe('a banana');
  });

  it('holds a value that no URL can encode', () => {
    expect(createRedactor(['half\ud800half', '100%secret']).redact('x 100%secret')).toBe('x [redacted]');
  });
});

describe('secretsIn', () => {
  it('finds the token and the passwords of the database', () => {
    const env = { SLUICE_SERVICE_TOKEN: 'tok', DATABASE_URL: 'postgres://a:b%40c@h/d', PGPASSWORD: 'pg' };
    expect(secretsIn(env)).toEqual(['tok', 'pg', 'b%40c']);
    expect(secretsIn({ DATABASE_URL: 'postgres://h/d?user=u&password=q' })).toEqual(['q']);
    expect(secretsIn({ DATABASE_URL: 'postgres://me:pw12@/d?host=/run/postgresql' })).toEqual(['pw12']);
    expect(secretsIn({ DATABASE_URL: 'postgres://u:a1b2@h/d?password=c3d4' })).toEqual(['a1b2', 'c3d4']);
    expect(secretsIn({ DATABASE_URL: 'embedded:.sluice' })).toEqual([]);
  });
});
