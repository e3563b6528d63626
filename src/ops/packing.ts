/** How the bytes of answers rest: compressed where that is worth it, and known by their digests. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import {
  constants,
  gunzip,
  gunzipSync,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';

type Compression = 'gzip' | 'zstd';

/** Smaller bodies grow by compression. */
const WORTH_COMPRESSING_BYTES = 150;
/** Smaller ones have hardly begun when `zstd` has made its room; of larger ones it makes less, several times as fast. */
const WORTH_ZSTD_BYTES = 2 ** 12;
/** Smaller ones take less time here than on their way to another thread and back. */
const WORTH_A_THREAD_BYTES = 2 ** 17;
const WORTH_A_THREAD_AT_REST_BYTES = 2 ** 14;

const apart = { gunzip: promisify(gunzip), zstd: promisify(zstdCompress), unzstd: promisify(zstdDecompress) };

function pack(body: Uint8Array, by: Compression): Buffer | Promise<Buffer> {
  // Room for all of it at once: by default, clearing some takes as long as compressing a small body.
  if (by === 'gzip') return gzipSync(body, { level: constants.Z_BEST_SPEED, chunkSize: body.byteLength });
  return body.byteLength < WORTH_A_THREAD_BYTES ? zstdCompressSync(body) : apart.zstd(body);
}

async function unpack(resting: Uint8Array, by: Compression): Promise<Buffer> {
  const isSmall = resting.byteLength < WORTH_A_THREAD_AT_REST_BYTES;
  if (by === 'gzip') return isSmall ? gunzipSync(resting) : apart.gunzip(resting);
  return isSmall ? zstdDecompressSync(resting) : apart.unzstd(resting);
}

export interface Packed {
  readonly bytes: Buffer;
  readonly encoding: Compression | 'identity';
}

/** A body as it is to rest. */
export async function packedOf(body: Uint8Array): Promise<Packed> {
  const size = body.byteLength;
  if (size < WORTH_COMPRESSING_BYTES)
    return { bytes: Buffer.from(body.buffer, body.byteOffset, size), encoding: 'identity' };
  const encoding = size < WORTH_ZSTD_BYTES ? 'gzip' : 'zstd';
  return { bytes: await pack(body, encoding), encoding };
}

/** The body as it was before it was compressed; undefined when it can't be unpacked. */
export async function unpackedBody(resting: Uint8Array, encoding: string): Promise<Uint8Array | undefined> {
  if (encoding === 'identity') return resting;
  return encoding === 'gzip' || encoding === 'zstd' ? unpack(resting, encoding).catch(() => undefined) : undefined;
}

/** The SHA-256 of an answer's bytes, in hex: what the vault knows them by. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
