/** `npm run bench`: runs the requested benchmarks, prints their results and writes them to RESULTS.md. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { again } from './again.ts';
import type { Benchmark, Setting } from './core/benchmark.ts';
import { UsageError, USAGE, type BenchOptions, parseOptions } from './core/command-line.ts';
import { machineOf } from './core/machine.ts';
import { type Result, shortfalls, textOf } from './core/print.ts';
import { withResult } from './core/results.ts';
import { endToEnd } from './end-to-end.ts';
import { footprint } from './footprint.ts';
import { forecast } from './forecast.ts';
import { growth } from './growth.ts';
import { limit } from './limit.ts';
import { limiter } from './limiter.ts';
import { makespan } from './makespan.ts';
import { memory } from './memory.ts';
import { planning } from './planning.ts';
import { profile } from './profile.ts';
import { replay } from './replay.ts';
import { reports } from './reports.ts';
import { rows } from './rows.ts';
import { smallAnswers } from './small-answers.ts';
import { type Postgres, startPostgres } from './stage/postgres.ts';
import { start } from './start.ts';
import { workers } from './workers.ts';

const BENCHMARKS: readonly Benchmark[] = [
  endToEnd,
  rows,
  limit,
  makespan,
  smallAnswers,
  again,
  growth,
  footprint,
  limiter,
  memory,
  start,
  replay,
  workers,
  planning,
  forecast,
  reports,
  profile,
];

/** The profile has a file of its own, because it shows shares instead of rates. */
const fileOf = ({ name }: Pick<Benchmark, 'name'>): string =>
  fileURLToPath(new URL(name === profile.name ? './PROFILE.md' : './RESULTS.md', import.meta.url));

function chosen({ names }: BenchOptions): readonly Benchmark[] {
  const unknown = names.find((name) => !BENCHMARKS.some((it) => it.name === name));
  if (unknown !== undefined)
    throw new UsageError(`no benchmark ${unknown}; there are ${BENCHMARKS.map(({ name }) => name).join(', ')}`);
  return BENCHMARKS.filter(({ name, onlyByName }) => (names.length > 0 ? names.includes(name) : onlyByName !== true));
}

interface Report {
  /** What holds for each result: the command, the time, the machine, the server. */
  readonly facts: readonly string[];
  readonly result: Result;
}

/** Runs the benchmarks, and returns each report as soon as it is there. */
async function* measure(
  options: BenchOptions,
  benchmarks: readonly Benchmark[],
  command: string,
): AsyncGenerator<Report, void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  let server: Promise<Postgres> | undefined;
  const postgres = (): Promise<Postgres> => (server ??= startPostgres());
  try {
    for (const benchmark of benchmarks) {
      console.error(`\n${benchmark.name}: ${benchmark.about}`);
      const facts = [`command: ${command}`, `taken: ${new Date().toISOString()}`, ...machineOf()];
      const startedMs = performance.now();
      const setting: Setting = {
        ...options,
        folder: join(folder, benchmark.name),
        postgres,
        report: (text) => console.error(`  ${text}`),
      };
      const measured = await benchmark.run(setting);
      const { name, about } = benchmark;
      const result = { name, about, tookS: (performance.now() - startedMs) / 1000, ...measured };
      facts.push((await server)?.about ?? 'no Postgres was used');
      if (options.scale !== 1) facts.push(`SCALED: sizes are ${options.scale} of the full ones`);
      facts.push(`${options.runs} alternating runs; medians, with the smallest and largest`);
      yield { facts, result };
    }
  } finally {
    await (await server)?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function write({ result, facts }: Report): Promise<void> {
  const file = fileOf(result);
  const before = await readFile(file, 'utf8').catch(() => '');
  const order = BENCHMARKS.map(({ name }) => name);
  await writeFile(file, withResult(before, result, facts, order));
}

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  if (options.help) {
    console.log(USAGE + BENCHMARKS.map(({ name, about }) => `\n  ${name}\n      ${about}`).join(''));
    return;
  }
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const reports: Report[] = [];
  for await (const report of measure(options, chosen(options), command)) {
    reports.push(report);
    console.error(textOf(report.result));
    // Now, so that a run that is ended early keeps what it measured.
    if (options.write) await write(report);
  }
  const facts = reports[0]?.facts ?? [];
  const results = reports.map(({ result }) => result);
  const short = shortfalls(results);
  const end = short.length > 0 ? ['Missed targets:', ...short.map((it) => `- ${it}`)] : ['Every target is met.'];
  const print = options.json ? console.error : console.log;
  print([...facts, '', ...results.map(textOf), ...end].join('\n'));
  if (options.json) console.log(JSON.stringify({ facts, results, short }, null, 2));
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
});
