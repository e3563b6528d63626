/** `npm run bench`: runs the benchmarks that were asked for and tells what came of them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { again } from './again.ts';
import type { Benchmark, Setting } from './core/benchmark.ts';
import { UnusableWords, USAGE, type Wanted, wantedBy } from './core/command-line.ts';
import { machineOf } from './core/machine.ts';
import { type Result, shortfalls, textOf } from './core/print.ts';
import { withResults } from './core/results.ts';
import { endToEnd } from './end-to-end.ts';
import { footprint } from './footprint.ts';
import { gate } from './gate.ts';
import { growth } from './growth.ts';
import { limit } from './limit.ts';
import { makespan } from './makespan.ts';
import { memory } from './memory.ts';
import { planning } from './planning.ts';
import { profile } from './profile.ts';
import { replay } from './replay.ts';
import { smallAnswers } from './small-answers.ts';
import { type Postgres, startPostgres } from './stage/postgres.ts';
import { start } from './start.ts';
import { workers } from './workers.ts';

const BENCHMARKS: readonly Benchmark[] = [
  endToEnd,
  limit,
  makespan,
  smallAnswers,
  again,
  growth,
  footprint,
  gate,
  memory,
  start,
  replay,
  workers,
  planning,
  profile,
];

/** What tells of shares, not of rates, is a file of its own. */
const fileOf = ({ name }: Pick<Benchmark, 'name'>): string =>
  fileURLToPath(new URL(name === profile.name ? './PROFILE.md' : './RESULTS.md', import.meta.url));

function chosen({ names }: Wanted): readonly Benchmark[] {
  const unknown = names.find((name) => !BENCHMARKS.some((it) => it.name === name));
  if (unknown !== undefined)
    throw new UnusableWords(`no benchmark ${unknown}; there are ${BENCHMARKS.map(({ name }) => name).join(', ')}`);
  return BENCHMARKS.filter(({ name, onlyByName }) => (names.length > 0 ? names.includes(name) : onlyByName !== true));
}

async function measure(
  wanted: Wanted,
  benchmarks: readonly Benchmark[],
  command: string,
): Promise<{ facts: string[]; results: Result[] }> {
  const tell = (text: string): void => console.error(text);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  let server: Promise<Postgres> | undefined;
  const postgres = (): Promise<Postgres> => (server ??= startPostgres());
  const facts = [`command: ${command}`, `taken: ${new Date().toISOString()}`, ...machineOf()];
  const results: Result[] = [];
  try {
    for (const benchmark of benchmarks) {
      tell(`\n${benchmark.name}: ${benchmark.about}`);
      const startedMs = performance.now();
      const setting: Setting = {
        ...wanted,
        folder: join(folder, benchmark.name),
        postgres,
        tell: (text) => tell(`  ${text}`),
      };
      const measured = await benchmark.run(setting);
      const { name, about } = benchmark;
      const result = { name, about, tookS: (performance.now() - startedMs) / 1000, ...measured };
      results.push(result);
      tell(textOf(result));
    }
    facts.push((await server)?.about ?? 'no Postgres was used');
    if (wanted.scale !== 1) facts.push(`SCALED: sizes are ${wanted.scale} of the full ones`);
    facts.push(`${wanted.runs} alternating runs; medians, with the smallest and largest`);
    return { facts, results };
  } finally {
    await (await server)?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(results: readonly Result[], facts: readonly string[]): Promise<void> {
  const order = BENCHMARKS.map(({ name }) => name);
  for (const file of new Set(results.map(fileOf))) {
    const before = await readFile(file, 'utf8').catch(() => '');
    const own = results.filter((it) => fileOf(it) === file);
    await writeFile(file, withResults(before, own, facts, order));
  }
}

async function main(words: readonly string[]): Promise<void> {
  const wanted = wantedBy(words);
  if (wanted.help) {
    console.log(USAGE + BENCHMARKS.map(({ name, about }) => `\n  ${name}\n      ${about}`).join(''));
    return;
  }
  const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
  const { facts, results } = await measure(wanted, chosen(wanted), command);
  const short = shortfalls(results);
  const end = short.length > 0 ? ['Short of its target:', ...short.map((it) => `- ${it}`)] : ['Every target is met.'];
  const print = wanted.json ? console.error : console.log;
  print([...facts, '', ...results.map(textOf), ...end].join('\n'));
  if (wanted.json) console.log(JSON.stringify({ facts, results, short }, null, 2));
  if (wanted.write) await write(results, facts);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UnusableWords)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
});
