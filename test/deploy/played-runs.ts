/** Stand-ins for the program whose runs end as a test says, to see which syncs a template runs again. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

interface EndedSync {
  readonly sync: string;
  readonly exitCode: number;
  readonly state: string;
  /** One unless it is given. */
  readonly points?: number;
  readonly pointsNow?: number;
}

/** A run: its exit code, and its syncs if it prints a summary. */
interface PlayedRun {
  readonly code: number;
  readonly syncs?: readonly EndedSync[];
}

const ended = (sync: string, exitCode: number, state: string): EndedSync => ({ sync, exitCode, state });
const [complete, interrupted] = [ended('a', 0, 'complete'), ended('b', 5, 'interrupted')];

/** Runs in turn, with the syncs that each has to name and the exit code of all. */
export const retriedRuns: readonly (readonly [string, readonly PlayedRun[], readonly string[], number])[] = [
  [
    'that leaves one of its syncs unfinished is continued with that one, and a finished one is not forgotten',
    [
      { code: 5, syncs: [complete, interrupted, ended('c', 4, 'partial')] },
      { code: 0, syncs: [ended('b', 0, 'complete')] },
    ],
    ['sync', 'sync b'],
    4,
  ],
  [
    'that finds leases held is continued with those syncs, until none is left',
    [
      { code: 7, syncs: [complete, ended('c', 7, 'failed'), interrupted] },
      { code: 7, syncs: [ended('c', 7, 'failed'), ended('b', 0, 'complete')] },
      { code: 0, syncs: [ended('c', 0, 'complete')] },
    ],
    ['sync', 'sync c b', 'sync c'],
    0,
  ],
  [
    'that ends before its first sync is run again with all',
    [{ code: 5 }, { code: 0, syncs: [complete] }],
    ['sync', 'sync'],
    0,
  ],
  ['that only lists lost answers is over', [{ code: 5, syncs: [complete, ended('b', 5, 'partial')] }], ['sync'], 5],
];

/** Runs that share a limit of five points, with the limits that each has to get and the exit code of all. */
export const limitedRuns: readonly (readonly [string, readonly PlayedRun[], readonly number[], number])[] = [
  [
    'continues with the points that are left',
    [
      { code: 5, syncs: [complete, { ...interrupted, points: 1.2 }] },
      { code: 5, syncs: [{ ...interrupted, points: 9, pointsNow: 1 }] },
      { code: 0, syncs: [ended('b', 0, 'complete')] },
    ],
    [5, 2, 1],
    0,
  ],
  [
    'ends when no points are left',
    [{ code: 7, syncs: [ended('a', 7, 'failed'), { ...interrupted, points: 5 }] }],
    [5],
    6,
  ],
];

const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> calls
at=$(($(wc -l < calls)))
if [ -e "summary-$at" ]; then cat "summary-$at"; fi
exit "$(cat "code-$at")"
`;

/** A folder with this program in it, which plays these runs; it disappears with the test. */
export async function playedProgram(name: string, runs: readonly PlayedRun[]) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-played-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  await writeFile(join(folder, name), PROGRAM, { mode: 0o755 });
  for (const [index, { code, syncs }] of runs.entries()) {
    await write(`code-${index + 1}`, String(code));
    if (syncs) await write(`summary-${index + 1}`, JSON.stringify({ exitCode: code, syncs: syncs.map(withRest) }));
  }
  /** The words of each call so far. */
  const calls = async (): Promise<string[]> => (await readFile(join(folder, 'calls'), 'utf8')).trimEnd().split('\n');
  return { folder, calls };
}

const withRest = (sync: EndedSync) => ({ error: null, next: null, loaded: 1, points: 1, truncated: 0, ...sync });
