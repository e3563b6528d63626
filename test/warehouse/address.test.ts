import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { parseAddress } from '../../src/warehouse/connect/url.ts';
import { AUTHORITY } from '../support/tls-proxy.ts';

describe('an address', () => {
  it('says where the server is and who one is there', () => {
    expect(
      parseAddress('postgres://me:p%40ss%2Fword@db.example.org:6543/my%20data?application_name=mine&connect_timeout=3'),
    ).toMatchObject({
      host: 'db.example.org',
      port: 6543,
      database: 'my data',
      user: 'me',
      password: 'p@ss/word',
      applicationName: 'mine',
      connectWithinMs: 3000,
    });
  });

  it.each([
    ['postgres://', { host: 'localhost', port: 5432, database: undefined, user: undefined, password: undefined }],
    ['postgresql:///data', { host: 'localhost', database: 'data' }],
    ['postgres://me@/data', { host: 'localhost', database: 'data', user: 'me' }],
    ['postgres:///data?host=/var/run/postgresql', { host: '/var/run/postgresql', database: 'data' }],
    ['postgres://me@%2Fvar%2Frun/data', { host: '/var/run', database: 'data', user: 'me' }],
    ['postgres:///data?user=me%40tenant&host=%40abstract', { host: '@abstract', user: 'me@tenant' }],
    ['postgres://[::1]:5/data', { host: '::1', port: 5 }],
  ])('%s has what is left out filled in', (url, parts) => {
    expect(parseAddress(url)).toMatchObject({ ...parts, applicationName: 'sluice' });
  });

  it.each([
    ['db.example.org', 'verify-full'],
    ['10.0.0.7', 'verify-full'],
    ['localhost', 'disable'],
    ['127.1.2.3', 'disable'],
    ['[::1]', 'disable'],
    ['%2Ftmp', 'disable'],
    ['localhost.example.org', 'verify-full'],
    ['127.evil.example.org', 'verify-full'],
  ])('without sslmode, %s is connected to with %s', (host, mode) => {
    expect(parseAddress(`postgres://${host}/data`).tlsMode).toBe(mode);
  });

  const trusting = { rejectUnauthorized: false };
  const ca = expect.stringContaining('BEGIN CERTIFICATE');
  it.each([
    ['sslmode=disable', [false]],
    ['sslmode=allow', [false, trusting]],
    ['sslmode=prefer', [trusting, false]],
    ['sslmode=require', [trusting]],
    [
      `sslmode=require&sslrootcert=${AUTHORITY}`,
      [{ rejectUnauthorized: true, ca, checkServerIdentity: expect.any(Function) }],
    ],
    [
      `sslmode=verify-ca&sslrootcert=${AUTHORITY}`,
      [{ rejectUnauthorized: true, ca, checkServerIdentity: expect.any(Function) }],
    ],
    [`sslmode=verify-full&sslrootcert=${AUTHORITY}`, [{ rejectUnauthorized: true, ca }]],
    ['sslmode=verify-full&sslrootcert=system', [{ rejectUnauthorized: true }]],
    [`sslcert=${AUTHORITY}&sslkey=${AUTHORITY}`, [{ rejectUnauthorized: true, cert: ca, key: ca }]],
  ])('%s means what it means to libpq', (query, tls) => {
    expect(parseAddress(`postgres://db.example.org/data?${query}`).tls).toEqual(tls);
  });

  it.each([
    ['postgres://me:secret@host:port/x', 'not an address'],
    ['postgres://me:secret@host/x?sslmode=no-verify', 'sslmode=no-verify'],
    ['postgres://me:secret@host/x?sslmod=disable', 'unknown parameter sslmod'],
    ['postgres://me:secret@a,b/x', 'several hosts'],
    ['postgres://me:pa@ss/secret@host/x', 'an @ after the host'],
    ['postgres://me:pass@3?secret@host/x', 'an @ after the host'],
    ['postgres://me:pass@3#secret@host/x', 'an @ after the host'],
    ['postgres://me:pass@3?secret#x', 'a # in the address'],
    ['postgres://me:pass@host/x?secret9=1', 'an unknown parameter'],
    ['postgres://me@host/x?password=pass&secret', 'an unknown parameter'],
    ['postgres://me:secret%@host/x', 'a % that encodes nothing'],
    ['postgres://me:secret@host/x?connect_timeout=soon', 'connect_timeout is not a number'],
    [
      'postgres://me:secret@host/x?sslrootcert=/no/such/file',
      'sslrootcert names a file that can’t be read: /no/such/file',
    ],
    ['postgres://me:secret@localhost/x?sslnegotiation=direct', 'sslnegotiation=direct with sslmode=disable'],
    ['postgres://me:secret@db/x?sslmode=prefer&channel_binding=require', 'channel_binding=require with sslmode=prefer'],
    [
      'postgres://me:secret@/x?host=/run/postgresql&channel_binding=require',
      'channel_binding=require with a Unix socket',
    ],
    ['postgres://me:secret@localhost/x?target_session_attrs=standby', 'target_session_attrs=standby'],
  ])('%s is refused without telling the password', (url, found) => {
    const attempt = () => parseAddress(url);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(`warehouse.url: ${found}`);
    try {
      attempt();
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('secret');
    }
  });
});
