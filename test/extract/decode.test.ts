/** Content encodings: each is undone, broken ones are kept as they came, and a bomb stops at the cap. */
import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CALL, clientFor, serving } from './servers.ts';

const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `entity ${id}` }))));

async function outcomeOf(encoding: string | undefined, body: Buffer, maxBodyBytes?: number, status = 200) {
  const host = await serving((_, response) =>
    response.writeHead(status, encoding === undefined ? {} : { 'content-encoding': encoding }).end(body),
  );
  return clientFor(`http://${host}`, maxBodyBytes === undefined ? {} : { maxBodyBytes }).send(CALL);
}

async function bodyOf(encoding: string | undefined, body: Buffer): Promise<Buffer> {
  const outcome = await outcomeOf(encoding, body);
  if (outcome.kind !== 'answered') throw new Error(outcome.reason);
  return Buffer.from(outcome.body);
}

describe('an answer that is encoded', () => {
  it.each([
    ['gzip', zlib.gzipSync(TEXT)],
    ['x-gzip', zlib.gzipSync(TEXT)],
    ['GZIP', zlib.gzipSync(TEXT)],
    ['gzip', Buffer.concat([zlib.gzipSync(TEXT.subarray(0, 99)), zlib.gzipSync(TEXT.subarray(99))])],
    ['br', zlib.brotliCompressSync(TEXT)],
    ['zstd', zlib.zstdCompressSync(TEXT)],
    ['zstd', Buffer.concat([zlib.zstdCompressSync(TEXT.subarray(0, 99)), zlib.zstdCompressSync(TEXT.subarray(99))])],
    ['zstd', Buffer.concat([zlib.zstdCompressSync(Buffer.alloc(0)), zlib.zstdCompressSync(TEXT)])],
    ['deflate', zlib.deflateSync(TEXT)],
    ['deflate', zlib.deflateRawSync(TEXT)],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(TEXT))],
    ['identity', TEXT],
    ['identity, gzip', zlib.gzipSync(TEXT)],
    [undefined, TEXT],
  ])('as %s is decoded', async (encoding, wire) => {
    expect((await bodyOf(encoding, wire)).equals(TEXT)).toBe(true);
  });

  it.each([
    ['compress', TEXT],
    ['gzip, compress', zlib.gzipSync(TEXT)],
    ['gzip', TEXT],
    ['gzip', zlib.gzipSync(TEXT).subarray(0, 500)],
    ['br', zlib.brotliCompressSync(TEXT).subarray(0, 100)],
    ['zstd', zlib.zstdCompressSync(TEXT).subarray(0, 100)],
    ['zstd', Buffer.concat([zlib.zstdCompressSync(TEXT), Buffer.from('and more')])],
    ['__proto__', TEXT],
  ])('as %s in a way that can’t be undone is kept as it came', async (encoding, wire) => {
    expect((await bodyOf(encoding, wire)).equals(wire)).toBe(true);
  });

  it('and empty is empty', async () => {
    const outcome = await outcomeOf('gzip', Buffer.alloc(0), undefined, 412);
    expect(outcome).toMatchObject({ kind: 'answered', status: 412 });
    expect(outcome.kind === 'answered' && outcome.body.length).toBe(0);
  });
});

describe('the cap', () => {
  const size = TEXT.length;
  it.each([
    ['gzip', zlib.gzipSync(TEXT)],
    ['br', zlib.brotliCompressSync(TEXT)],
    ['zstd', zlib.zstdCompressSync(TEXT)],
    ['zstd', Buffer.concat([zlib.zstdCompressSync(TEXT.subarray(0, -1)), zlib.zstdCompressSync(TEXT.subarray(-1))])],
    [undefined, TEXT],
  ])('counts decoded bytes (%s)', async (encoding, wire) => {
    expect((await outcomeOf(encoding, wire, size)).kind).toBe('answered');
    expect(await outcomeOf(encoding, wire, size - 1)).toMatchObject({ kind: 'unknown', status: 200, tooLarge: true });
  });

  it('stops 300 MB in 300 kB of gzip immediately, with little memory', async () => {
    const member = zlib.gzipSync(Buffer.alloc(10_000_000));
    const bomb = Buffer.concat(Array.from({ length: 30 }, () => member));
    expect(bomb.length).toBeLessThan(310_000);
    const beforeKb = process.resourceUsage().maxRSS;
    expect(await outcomeOf('gzip', bomb, 2 ** 20)).toEqual({
      kind: 'unknown',
      status: 200,
      reason: 'the answer is larger than 1 MiB',
      tooLarge: true,
    });
    expect(process.resourceUsage().maxRSS - beforeKb).toBeLessThan(50_000);
  });
});
