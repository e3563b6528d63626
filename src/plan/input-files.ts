/** Reads input files as streams of text. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { InputFormatError } from './input-rows.ts';
import type { InputEffects } from './inputs.ts';

/** Returns a reader for files and pipes; it throws for a device. It keeps the bytes of a pipe, which can be read only once. */
export function inputFiles(): InputEffects['readFile'] {
  const kept = new Map<string, Promise<Buffer>>();
  return async function* textOf(path) {
    const found = await stat(path);
    // A device may have no end.
    if (found.isCharacterDevice() || found.isBlockDevice())
      throw Object.assign(new Error('it is a device'), { code: 'it is a device' });
    if (found.isFile()) {
      yield* decoded(createReadStream(path) as AsyncIterable<Buffer>);
      return;
    }
    const bytes = kept.get(path) ?? readFile(path);
    kept.set(path, bytes);
    yield* decoded([await bytes]);
  };
}

/** The text of UTF-8 in parts. Throws an InputFormatError for other bytes, since replaced ones would be paid for. */
async function* decoded(parts: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<string> {
  let line = 1;
  // The first bytes of a character whose others are in the next part.
  let begun = Buffer.alloc(0);
  for await (const part of parts) {
    const bytes = Buffer.concat([begun, part]);
    const text = textOf(bytes, line);
    begun = bytes.subarray(Buffer.byteLength(text));
    line += lineEnds(text);
    yield text;
  }
  if (begun.length > 0) throw notUtf8(begun, line);
}

/** The text of the complete characters. */
function textOf(bytes: Buffer, line: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    throw notUtf8(bytes, line);
  }
}

function notUtf8(bytes: Buffer, firstLine: number): InputFormatError {
  const replaced = Buffer.from(bytes.toString());
  const before = bytes.toString(
    'latin1',
    0,
    bytes.findIndex((byte, at) => byte !== replaced[at]),
  );
  return new InputFormatError(firstLine + lineEnds(before), 'this line is not UTF-8 text; save the file as UTF-8');
}

const lineEnds = (text: string): number => text.split('\n').length - 1;
