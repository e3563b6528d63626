/** How the bytes of answers are stored: compressed if that saves space, and identified by their digests. */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import {
  constants,
  gunzip,
  gunzipSync,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';

/** Smaller bodies grow by compression. */
const WORTH_COMPRESSING_BYTES = 150;
/** Smaller bodies compress faster here than on another thread. */
const WORTH_A_THREAD_BYTES = 2 ** 16;
const packApart = promisify(zstdCompress);

function pack(body: Uint8Array): Buffer | Promise<Buffer> {
  // The level takes a quarter of gzip's time for the same size.
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  // One buffer for the complete output, since clearing the default buffer takes as long as compressing a small body.
  if (body.byteLength < WORTH_A_THREAD_BYTES) return zstdCompressSync(body, { chunkSize: body.byteLength, params });
  return packApart(body, { params });
}

interface Unpacking {
  readonly here: (stored: Uint8Array) => Buffer;
  readonly apart: (stored: Uint8Array) => Promise<Buffer>;
}

/** By encoding; earlier versions compressed with gzip. */
const UNPACKING: ReadonlyMap<string, Unpacking> = new Map([
  ['gzip', { here: gunzipSync, apart: promisify(gunzip) }],
  ['zstd', { here: zstdDecompressSync, apart: promisify(zstdDecompress) }],
]);

const unpack = async (stored: Uint8Array, { here, apart }: Unpacking): Promise<Buffer> =>
  stored.byteLength < WORTH_A_THREAD_BYTES / 8 ? here(stored) : apart(stored);

export interface CompressedBody {
  readonly bytes: Buffer;
  readonly encoding: 'zstd' | 'identity';
}

/** Returns a body in the form in which it is stored. */
export async function compressBody(body: Uint8Array): Promise<CompressedBody> {
  return body.byteLength >= WORTH_COMPRESSING_BYTES
    ? { bytes: await pack(body), encoding: 'zstd' }
    : { bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength), encoding: 'identity' };
}

/** Returns the body before compression; undefined if it cannot be decompressed. */
export async function decompressBody(stored: Uint8Array, encoding: string): Promise<Uint8Array | undefined> {
  if (encoding === 'identity') return stored;
  const unpacking = UNPACKING.get(encoding);
  return unpacking && unpack(stored, unpacking).catch(() => undefined);
}

/** The SHA-256 of an answer's bytes, in hex; identifies the bytes in the database. */
export const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes);
