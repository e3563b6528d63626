/** Reads input files as streams of text. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { InputEffects } from './inputs.ts';

/** Returns a reader for files. It keeps the text of a pipe, which can be read only once. */
export function inputFiles(): InputEffects['readFile'] {
  const kept = new Map<string, Promise<string>>();
  return async function* textOf(path) {
    if ((await stat(path)).isFile()) {
      yield* createReadStream(path, 'utf8') as AsyncIterable<string>;
      return;
    }
    const text = kept.get(path) ?? readFile(path, 'utf8');
    kept.set(path, text);
    yield await text;
  };
}
