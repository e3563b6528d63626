/**
 * Decodes an answer's content encoding with a limit on the output, since a few hundred kilobytes can decode to
 * gigabytes.
 */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

/** The encodings that requests accept, best first. */
export const ACCEPTED_ENCODINGS = 'zstd, br, gzip';

type Decoder = (
  input: Buffer,
  options: { readonly maxOutputLength: number; readonly chunkSize: number },
) => Promise<Buffer>;

const gunzip = promisify(zlib.gunzip);
const inflate = promisify(zlib.inflate);
const inflateRaw = promisify(zlib.inflateRaw);
const zstdDecompress = promisify(zlib.zstdDecompress);

/** More frames than any sender makes; each one costs a decoder. */
const MOST_FRAMES = 10_000;

/** The code of Node's own error for a body that decodes to more than the limit. */
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** All frames of a zstd body, one after the other. Node's own function ends after the first one. */
const decompressFrames: Decoder = async (input, options) => {
  const frames: Buffer[] = [];
  let room = options.maxOutputLength;
  for (let at = 0; ; ) {
    const limited = { ...options, maxOutputLength: Math.max(1, room), info: true };
    // The types of Node leave out the result with `info`.
    const { buffer, engine } = (await zstdDecompress(input.subarray(at), limited)) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (buffer.length > room) throw Object.assign(new Error('no room'), { code: TOO_LARGE });
    frames.push(buffer);
    room -= buffer.length;
    at += engine.bytesWritten;
    if (at >= input.length) return frames.length === 1 ? buffer : Buffer.concat(frames);
    if (engine.bytesWritten === 0 || frames.length >= MOST_FRAMES) throw new Error('no frame');
  }
};

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  br: promisify(zlib.brotliDecompress),
  zstd: decompressFrames,
  // Some servers send the raw stream under this name. The first byte of a zlib header distinguishes the two.
  deflate: (input, options) => (((input[0] ?? 0) & 0x0f) === 8 ? inflate(input, options) : inflateRaw(input, options)),
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
  let body = wire;
  for (const name of codings.toReversed()) {
    const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
    if (!decoder) return wire;
    try {
      body = await decoder(body, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES });
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === TOO_LARGE ? 'too large' : wire;
    }
  }
  return body;
}
