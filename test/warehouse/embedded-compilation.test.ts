/** What V8 optimizes of the embedded database: a process of a few statements must not pay for the largest functions. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../cli/program-run.ts';
import { copyEmbedded } from '../support/templates.ts';

const MAIN = new URL('../../src/main.js', import.meta.url).pathname;
const OPTIMIZED = /#(?<number>\d+) using TurboFan, took \d+ ms and (?<bytes>\d+) /g;

it.each([
  ['migrate', 'creates'],
  ['status', 'reads'],
])(
  'no function takes more than 100 MB to optimize while %s %s an embedded warehouse',
  async (command, does) => {
    const { path: folder, remove } = await temporaryFolder();
    onTestFinished(remove);
    const config = join(folder, 'sluice.yaml');
    if (does === 'reads') await copyEmbedded(join(folder, '.sluice'));
    await writeFile(
      config,
      'service: { url: "http://127.0.0.1:1", token: none }\nwarehouse: { url: "embedded:.sluice" }\nsyncs: { users: { endpoint: microblog.user, request: { user: a } } }\n',
    );
    const args = ['--trace-wasm-compilation-times', MAIN, command, '--config', config];

    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });

    const optimized = [...stdout.matchAll(OPTIMIZED)].map(({ groups }) => Number(groups?.['bytes']));
    expect(stdout).toContain('using Liftoff');
    expect(optimized.filter((bytes) => bytes > 100e6)).toEqual([]);
    // Tracing each compilation is slow: on a busy machine it took a minute.
  },
  240_000,
);
