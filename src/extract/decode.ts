/** Undoes an answer's content encoding, counting what comes out, since a few hundred kilobytes can hold gigabytes. */
import * as zlib from 'node:zlib';

/** What requests accept, best first. */
export const ACCEPTED_ENCODINGS = 'zstd, br, gzip';

type Undo = (input: Buffer, options: { maxOutputLength: number; chunkSize: number }, done: Done) => void;
type Done = (error: Error | null, output: Buffer) => void;

const UNDO: Readonly<Record<string, Undo>> = {
  gzip: zlib.gunzip,
  'x-gzip': zlib.gunzip,
  br: zlib.brotliDecompress,
  zstd: zlib.zstdDecompress,
  // Some servers send the bare stream under this name; the zlib header's first byte tells the two apart.
  deflate: (input, options, done) =>
    ((input[0] ?? 0) & 0x0f) === 8 ? zlib.inflate(input, options, done) : zlib.inflateRaw(input, options, done),
};

const CHUNK_BYTES = 65_536;

/**
 * The body as it was before it was encoded, or `too large` as soon as more than `maxBytes` have come out. A body whose
 * encoding is unknown or broken stays as it came: the whole answer is here and may be paid for, so it is kept, and what
 * reads it says that it can't.
 */
export async function decode(wire: Buffer, contentEncoding: string, maxBytes: number): Promise<Buffer | 'too large'> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const undos = codings.toReversed().map((name) => (Object.hasOwn(UNDO, name) ? UNDO[name] : undefined));
  let body = wire;
  for (const undo of undos) {
    if (!undo) return wire;
    const output = await undone(undo, body, maxBytes);
    if (output === 'too large') return output;
    if (output === 'broken') return wire;
    body = output;
  }
  return body;
}

function undone(undo: Undo, input: Buffer, maxOutputLength: number): Promise<Buffer | 'too large' | 'broken'> {
  return new Promise((resolve) => {
    undo(input, { maxOutputLength, chunkSize: CHUNK_BYTES }, (error, output) => {
      if (!error) resolve(output);
      else resolve('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'broken');
    });
  });
}
