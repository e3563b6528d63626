/** Reads a V8 profile: the time of each part of the program and of each function. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Shares {
  /** From the first sample to the last. */
  readonly wallMs: number;
  /** Milliseconds by part: a file of Sluice, a package, Node itself, the garbage collector, idle. */
  readonly parts: ReadonlyMap<string, number>;
  /** Milliseconds by function, with its file. */
  readonly functions: ReadonlyMap<string, number>;
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The shares of the only profile in a folder. */
export async function sharesIn(folder: string): Promise<Shares> {
  const [file] = (await readdir(folder)).filter((it) => it.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`no profile in ${folder}`);
  const { nodes, samples, timeDeltas } = JSON.parse(await readFile(join(folder, file), 'utf8')) as Profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  let wallMs = 0;
  for (const [at, id] of samples.entries()) {
    const frame = frames.get(id);
    // A delta is the time that ends at its sample, so it belongs to the sample before.
    const ms = (timeDeltas[at + 1] ?? 0) / 1000;
    if (!frame) continue;
    wallMs += ms;
    const part = partOf(frame.functionName, frame.url);
    parts.set(part, (parts.get(part) ?? 0) + ms);
    const name = `${frame.functionName === '' ? 'anonymous' : frame.functionName} (${part}${frame.url.startsWith('file:') ? `:${frame.lineNumber + 1}` : ''})`;
    functions.set(name, (functions.get(name) ?? 0) + ms);
  }
  return { wallMs, parts: sorted(parts), functions: sorted(functions) };
}

function partOf(functionName: string, url: string): string {
  if (url === '' || url.startsWith('node:')) {
    const special = /^\((idle|garbage collector|program)\)$/.exec(functionName)?.[1];
    return special ?? (url === '' ? 'native' : url.replace(/^(node:(?:internal\/)?[\w-]+).*/, '$1'));
  }
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return packaged ?? path.replace(ROOT, '');
}

const sorted = (of: ReadonlyMap<string, number>): Map<string, number> =>
  new Map([...of].toSorted(([, a], [, b]) => b - a));
