/** The name of a token in the warehouse. */
import { expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { tokenDigest } from '../../src/control/token-digest.ts';

const digestFor = (url: string, token: string): string => tokenDigest({ url, token: new Secret(token) });

it('the digest of a token differs by service and token, and reveals neither', () => {
  const digest = digestFor('https://service.example/v1', 'secret-token');
  expect(digest).toMatch(/^[0-9a-f]{32}$/);
  expect(digestFor('HTTPS://SERVICE.example/v1', 'secret-token')).toBe(digest);
  const others = [digestFor('https://service.example/v1', 'other'), digestFor('https://b.example', 'secret-token')];
  expect(new Set([digest, ...others]).size).toBe(3);
});
