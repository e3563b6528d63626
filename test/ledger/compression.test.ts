/** Bodies are compressed where that is worth it, and come back as they were, whichever version compressed them. */
import { randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressBody, decompressBody } from '../../src/ledger/compression.ts';

const text = (bytes: number): Buffer =>
  Buffer.from('{"name":"Ünïcödé"},'.repeat(Math.ceil(bytes / 20))).subarray(0, bytes);

describe('a body', () => {
  it.each([
    [0, 'identity'],
    [149, 'identity'],
    [150, 'zstd'],
    [2 ** 16 - 1, 'zstd'],
    [2 ** 16, 'zstd'],
    [3_000_000, 'zstd'],
  ])('of %i bytes is stored as %s and comes back', async (size, encoding) => {
    for (const body of [text(size), randomBytes(size), Buffer.alloc(size)]) {
      const packed = await compressBody(body);
      expect(packed.encoding).toBe(encoding);
      expect(Buffer.from((await decompressBody(packed.bytes, packed.encoding)) ?? []).equals(body)).toBe(true);
    }
    const { bytes } = await compressBody(text(size));
    if (encoding !== 'identity') expect(bytes.byteLength).toBeLessThan(size / 2);
  });

  it('of any bytes comes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 6_000, size: 'max' }), async (body) => {
        const { bytes, encoding } = await compressBody(body);
        expect(Buffer.from((await decompressBody(bytes, encoding)) ?? []).equals(body)).toBe(true);
      }),
    );
  });

  it.each([300, 200_000, 3_000_000])('of %i bytes that an earlier version compressed comes back', async (size) => {
    for (const body of [text(size), randomBytes(size)]) {
      for (const [bytes, encoding] of [
        [gzipSync(body, { level: 1 }), 'gzip'],
        [zstdCompressSync(body), 'zstd'],
      ] as const)
        expect(Buffer.from((await decompressBody(bytes, encoding)) ?? []).equals(body)).toBe(true);
    }
  });

  it.each([10, 2 ** 15])('that is damaged, or has an unknown encoding, is undefined: %i bytes', async (size) => {
    const bytes = randomBytes(size);
    for (const encoding of ['gzip', 'zstd', 'lz77']) expect(await decompressBody(bytes, encoding)).toBeUndefined();
    expect(await decompressBody(bytes, 'identity')).toBe(bytes);
  });
});
