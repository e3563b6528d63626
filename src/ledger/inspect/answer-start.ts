/** The beginning of a stored answer, which is read without the rest of its body. */
import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { sql } from 'kysely';
import type { Ops } from '../../warehouse/connect/operations-db.ts';

export interface AnswerStart {
  /** Response headers by lower-case name, without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first bytes of the body; undefined if it was removed or cannot be decompressed. */
  readonly body: Uint8Array | undefined;
  /** Size of the complete body. */
  readonly bytes: number;
}

/** Stored bytes to read: more than a compressed block, which can only be decompressed completely. */
const MOST_STORED_BYTES = 2 ** 18;

/** Returns the beginning of an answer, at most `mostBytes` of its body; undefined if there is no such answer. */
export async function readAnswerStart(ops: Ops, id: string, mostBytes: number): Promise<AnswerStart | undefined> {
  const row = await ops
    .selectFrom('answers')
    .select(['headers', 'encoding', sql<number>`bytes::float8`.as('bytes')])
    .select(sql<Uint8Array | null>`substring(body from 1 for ${sql.lit(MOST_STORED_BYTES)})`.as('stored'))
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { headers, encoding, bytes, stored } = row;
  const body = stored === null ? undefined : await decompressStart(stored, encoding, mostBytes);
  return { headers, body, bytes };
}

/** By encoding. */
const DECOMPRESSING = { gzip: createGunzip, zstd: createZstdDecompress } as const;

async function decompressStart(
  stored: Uint8Array,
  encoding: string,
  mostBytes: number,
): Promise<Uint8Array | undefined> {
  if (encoding === 'identity') return stored.subarray(0, mostBytes);
  const open = encoding in DECOMPRESSING ? DECOMPRESSING[encoding as keyof typeof DECOMPRESSING] : undefined;
  if (!open) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of Readable.from([stored]).pipe(open()) as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size >= mostBytes) break;
    }
  } catch {
    // The stored bytes end within a block, or are damaged: what was decompressed before is the beginning.
    if (size === 0) return undefined;
  }
  return Buffer.concat(parts).subarray(0, mostBytes);
}
