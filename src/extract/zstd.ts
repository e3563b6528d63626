/** Decodes all frames of a zstd body: Node's own function ends after the first one. */
import * as zlib from 'node:zlib';

export interface DecodeOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

export type DecodeDone = (error: Error | null, output: Buffer) => void;

/** More frames than any sender makes; each one costs a decoder. */
const MOST_FRAMES = 10_000;

/** The code of Node's own error for a body that decodes to more than the limit. */
export const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** The decoded frames, one after the other, or an error if any part of the body is no frame. */
export function decompressFrames(input: Buffer, options: DecodeOptions, done: DecodeDone): void {
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
