/**
 * Decodes an answer's content encoding with a limit on the output, since a few hundred kilobytes can decode to
 * gigabytes.
 */
import * as zlib from 'node:zlib';

/** The encodings that requests accept, best first. */
export const ACCEPTED_ENCODINGS = 'zstd, br, gzip';

type Decoder = (input: Buffer, options: DecodeOptions, done: DecodeDone) => void;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: zlib.gunzip,
  'x-gzip': zlib.gunzip,
  br: zlib.brotliDecompress,
  zstd: decompressFrames,
  // Some servers send the raw stream under this name. The first byte of a zlib header distinguishes the two.
  deflate: (input, options, done) =>
    ((input[0] ?? 0) & 0x0f) === 8 ? zlib.inflate(input, options, done) : zlib.inflateRaw(input, options, done),
};

const CHUNK_BYTES = 65_536;

/**
 * The decoded body, or `too large` as soon as it exceeds `maxBytes`. A body with an unknown or broken encoding is
 * returned unchanged: the complete answer arrived and may be paid for, so it is kept, and its reader reports that it is
 * unreadable.
 */
export async function decode(wire: Buffer, contentEncoding: string, maxBytes: number): Promise<Buffer | 'too large'> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const decoders = codings.toReversed().map((name) => (Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined));
  let body = wire;
  for (const decoder of decoders) {
    if (!decoder) return wire;
    const output = await decoded(decoder, body, maxBytes);
    if (output === 'too large') return output;
    if (output === 'broken') return wire;
    body = output;
  }
  return body;
}

function decoded(decoder: Decoder, input: Buffer, maxOutputLength: number): Promise<Buffer | 'too large' | 'broken'> {
  return new Promise((resolve) => {
    decoder(input, { maxOutputLength, chunkSize: CHUNK_BYTES }, (error, output) => {
      if (!error) resolve(output);
      else resolve('code' in error && error.code === TOO_LARGE ? 'too large' : 'broken');
    });
  });
}

interface DecodeOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

type DecodeDone = (error: Error | null, output: Buffer) => void;

/** More frames than any sender makes; each one costs a decoder. */
const MOST_FRAMES = 10_000;

/** The code of Node's own error for a body that decodes to more than the limit. */
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** The decoded frames, one after the other, or an error if any part of the body is no frame. */
function decompressFrames(input: Buffer, options: DecodeOptions, done: DecodeDone): void {
  const frames: Buffer[] = [];
  const decodeFrom = (at: number, room: number): void => {
    const limited = { ...options, maxOutputLength: Math.max(1, room), info: true };
    zlib.zstdDecompress(input.subarray(at), limited, (error, result) => {
      if (error) return done(error, Buffer.alloc(0));
      // The types of Node leave out the result with `info`.
      const { buffer, engine } = result as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
      if (buffer.length > room) return done(Object.assign(new Error('no room'), { code: TOO_LARGE }), buffer);
      frames.push(buffer);
      const next = at + engine.bytesWritten;
      if (next >= input.length) return done(null, frames.length === 1 ? buffer : Buffer.concat(frames));
      if (engine.bytesWritten === 0 || frames.length >= MOST_FRAMES) return done(new Error('no frame'), buffer);
      return decodeFrom(next, room - buffer.length);
    });
  };
  decodeFrom(0, options.maxOutputLength);
}
