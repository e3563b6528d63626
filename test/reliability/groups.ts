/** The kinds of scenarios at full length, each with its figures and the broken promises. */
import pLimit from 'p-limit';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { type Draws, drawsOf } from './draws.ts';
import type { WarehouseTemplates } from './warehouse-templates.ts';
import type { Oracle } from './oracle.ts';
import { type Spoil, spoiled } from './scenarios/faults.ts';
import { brokenBy, type DiskCase, fullDisk } from './scenarios/full-disk.ts';
import { type Death, type Killed, killed } from './scenarios/kills.ts';
import type { OddRun } from './scenarios/odd-services.ts';
import { replaced, startedAtOnce, startedSecond } from './scenarios/starts.ts';
import { killedWorkers } from './scenarios/workers.ts';
import { twoWriters } from './scenarios/writers.ts';

/** The result of one kind of scenario. */
export interface Group {
  readonly title: string;
  /** What was done, and how often. */
  readonly done: string;
  /** Figures by name, in display order. */
  readonly figures: Readonly<Record<string, string | number>>;
  /** Descriptions of broken promises. */
  readonly broken: readonly string[];
}

export interface Bench {
  readonly templates: WarehouseTemplates;
  readonly seed: number;
  /** The contents of the tables after an undisturbed run. */
  readonly oracle: Oracle;
  readonly onProgress: (line: string) => void;
}

/** Concurrent scenarios: each has a process of Sluice, and they share one Postgres server. */
const AT_ONCE = 2;

/** The longest duration of a second start that is refused. */
const AT_ONCE_MS = 2_000;
/** A dead holder is replaced within this time. */
const REPLACED_WITHIN_MS = 15_000;

/** Runs with kills, each list of kills in a run of its own. */
export function killGroup(
  bench: Bench,
  { title, done, kind }: { readonly title: string; readonly done: string; readonly kind: Warehouse['kind'] },
  all: readonly (readonly Death[])[],
): Promise<Group> {
  return deathGroup(bench, { title, done }, all, (deaths) => killed(bench.templates, kind, deaths, bench.oracle));
}

/** Kills of workers that share runs in chunks, each list of kills on jobs of its own. */
export function workerGroup(
  bench: Bench,
  { title, done, inCompany }: { readonly title: string; readonly done: string; readonly inCompany: boolean },
  all: readonly (readonly Death[])[],
): Promise<Group> {
  return deathGroup(bench, { title, done }, all, (deaths) =>
    killedWorkers(bench.templates, deaths, bench.oracle, { chunkSize: 20, inCompany }),
  );
}

async function deathGroup(
  bench: Bench,
  { title, done }: { readonly title: string; readonly done: string },
  all: readonly (readonly Death[])[],
  play: (deaths: readonly Death[]) => Promise<Killed>,
): Promise<Group> {
  const { results, broken } = await each(bench, title, all, play, JSON.stringify);
  const sum = (of: (it: Killed) => number): number => results.reduce((total, it) => total + of(it), 0);
  return {
    title,
    done,
    figures: {
      runs: results.length,
      kills: sum(({ died }) => died),
      'runs with the same tables': results.filter(({ differing }) => differing.length === 0).length,
      requests: sum(({ figures }) => figures.arrivals),
      'sent again after storage': sum(({ figures }) => figures.sentAgainAfterStored),
      'in doubt': sum(({ figures }) => figures.inDoubt),
      'most in doubt after one kill': Math.max(0, ...results.map(({ figures }) => figures.mostInDoubtAtOnce)),
      'sent again after a loss': sum(({ figures }) => figures.sentAgain),
      'median time': seconds(median(results.map(({ tookMs }) => tookMs))),
    },
    broken,
  };
}

/** Rounds of eight simultaneous starts. */
export async function startGroup(bench: Bench, title: string, rounds: number): Promise<Group> {
  const one = async () => {
    const it = await startedAtOnce(bench.templates, 8);
    const wrong = it.codes.join() === '0,7,7,7,7,7,7,7' ? [] : [`exit codes ${it.codes.join()}`];
    return { ...it, violations: [...it.violations, ...wrong] };
  };
  // Eight processes are enough for the machine.
  const { results, broken } = await each(bench, title, numbered(rounds), one, String, 1);
  const codes = results.flatMap((it) => it.codes);
  return {
    title,
    done: 'Eight processes of `sluice sync` start on one warehouse; the service answers when seven have ended.',
    figures: {
      rounds: results.length,
      'exit 0': codes.filter((code) => code === 0).length,
      'exit 7': codes.filter((code) => code === 7).length,
      'exit otherwise': codes.filter((code) => code !== 0 && code !== 7).length,
    },
    broken,
  };
}

/** Embedded warehouses on small disks, full from the start or filled during the sync. */
export async function diskGroup(bench: Bench, title: string, cases: readonly DiskCase[]): Promise<Group> {
  const one = async (disk: DiskCase) => {
    const end = await fullDisk(disk);
    return { ...end, violations: brokenBy(end) };
  };
  const { results, broken } = await each(bench, title, cases, one, (disk) => JSON.stringify(disk));
  const sum = (of: (end: (typeof results)[number]) => number): number =>
    results.reduce((total, end) => total + of(end), 0);
  return {
    title,
    done: 'An embedded warehouse is on a tmpfs of 50 to 320 MiB; another program fills half of the disks. Then the disk is enlarged, and the sync runs again.',
    figures: {
      disks: results.length,
      'exit 5': results.filter(({ codes }) => codes[0] === 5).length,
      'exit 0': results.filter(({ codes }) => codes[0] === 0).length,
      'answers spooled': sum((end) => end.spooled),
      'requests sent': sum((end) => end.bought),
      'bought twice': sum((end) => end.boughtTwice),
    },
    broken,
  };
}

/** A second start while a process is running, measured as a complete process. */
export async function secondStartGroup(bench: Bench, title: string, rounds: number): Promise<Group> {
  const one = async () => {
    const { code, tookMs } = await startedSecond(bench.templates);
    const violations = [
      ...(code === 7 ? [] : [`exit code ${code}`]),
      ...(tookMs < AT_ONCE_MS ? [] : [`it took ${seconds(tookMs)}`]),
    ];
    return { violations, tookMs };
  };
  const { results, broken } = await each(bench, title, numbered(rounds), one, String, 1);
  return {
    title,
    done: 'A second process of `sluice sync` starts while the first one runs; its duration is measured.',
    figures: {
      rounds: results.length,
      slowest: seconds(Math.max(...results.map(({ tookMs }) => tookMs))),
      allowed: seconds(AT_ONCE_MS),
    },
    broken,
  };
}

/** Dead holders, waiting for the real expiry of their leases. */
export async function replaceGroup(bench: Bench, title: string, rounds: number): Promise<Group> {
  const one = async () => {
    const it = await replaced(bench.templates);
    const late = it.takenOverMs <= REPLACED_WITHIN_MS ? [] : [`taken over after ${seconds(it.takenOverMs)}`];
    return { ...it, violations: [...it.violations, ...late] };
  };
  const { results, broken } = await each(bench, title, numbered(rounds), one, String);
  return {
    title,
    done: 'kill -9 hits the holder right after a heartbeat. Then processes start, each a second after the end of the one before, until one gets the lease. The lease expires by itself.',
    figures: {
      rounds: results.length,
      'slowest takeover': seconds(Math.max(...results.map(({ takenOverMs }) => takenOverMs))),
      allowed: seconds(REPLACED_WITHIN_MS),
      'slowest next request': seconds(Math.max(...results.map(({ workingMs }) => workingMs))),
      'starts refused': results.reduce((sum, { refused }) => sum + refused, 0),
    },
    broken,
  };
}

/** Two writers on the same keys. */
export async function writerGroup(bench: Bench, title: string, rounds: number): Promise<Group> {
  const one = async () => {
    const it = await twoWriters(bench.templates, rounds);
    const violations = [
      ...(it.deadlocks === 0 ? [] : [`${it.deadlocks} deadlocks`]),
      ...(it.unaccounted === 0 ? [] : [`${it.unaccounted} answers without complete counts`]),
    ];
    return { ...it, violations };
  };
  const { results, broken } = await each(bench, title, [1], one, String);
  return {
    title,
    done: 'Answers of two syncs contain the same posts, people and companies in opposite orders and are loaded at the same time.',
    figures: {
      rounds: results.reduce((sum, it) => sum + it.rounds, 0),
      deadlocks: results.reduce((sum, it) => sum + it.deadlocks, 0),
      retries: results.reduce((sum, it) => sum + it.retries, 0),
    },
    broken,
  };
}

/** Runs behind the fault proxies. */
export async function faultGroup(
  bench: Bench,
  { title, done }: { readonly title: string; readonly done: string },
  runs: number,
  spoilOf: (draws: Draws) => Spoil,
): Promise<Group> {
  const one = (run: number) => spoiled(bench.templates, spoilOf(drawsOf(bench.seed, `${title} ${run}`)), bench.oracle);
  const { results, broken } = await each(bench, title, numbered(runs), one, String);
  const befell = new Map<string, number>();
  for (const it of results)
    for (const [kind, times] of Object.entries(it.befell)) befell.set(kind, (befell.get(kind) ?? 0) + times);
  const sum = (of: (it: (typeof results)[number]) => number): number =>
    results.reduce((total, it) => total + of(it), 0);
  return {
    title,
    done: `${done} Processes start until one exits with 0.`,
    figures: {
      runs: results.length,
      processes: sum((it) => it.runs),
      'runs with the same tables': results.filter(({ differing }) => differing.length === 0).length,
      'sent again after storage': sum(({ figures }) => figures.sentAgainAfterStored),
      'in doubt': sum(({ figures }) => figures.inDoubt),
      'sent again after a loss': sum(({ figures }) => figures.sentAgain),
      ...Object.fromEntries([...befell].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
    broken,
  };
}

/** Runs against services with odd answers, each with draws of its own. */
export async function oddGroup(
  bench: Bench,
  { title, done }: { readonly title: string; readonly done: string },
  count: number,
  play: (templates: WarehouseTemplates, draws: Draws) => Promise<OddRun>,
): Promise<Group> {
  const one = (number: number) => play(bench.templates, drawsOf(bench.seed + number, title));
  const { results, broken } = await each(bench, title, numbered(count), one, (number) => `draw ${number}`);
  const sum = (of: (it: OddRun) => number): number => results.reduce((total, it) => total + of(it), 0);
  return {
    title,
    done,
    figures: {
      services: results.length,
      processes: sum(({ runs }) => runs),
      requests: sum(({ calls }) => calls),
      points: sum(({ points }) => points),
    },
    broken,
  };
}

/** Runs with unusual settings or wrong clocks, each with draws of its own. */
export async function settingsGroup(
  bench: Bench,
  { title, done }: { readonly title: string; readonly done: string },
  count: number,
  play: (
    templates: WarehouseTemplates,
    draws: Draws,
    expected: Oracle,
  ) => Promise<{ readonly violations: readonly string[] }>,
): Promise<Group> {
  const one = (number: number) => play(bench.templates, drawsOf(bench.seed + number, title), bench.oracle);
  const { results, broken } = await each(bench, title, numbered(count), one, (number) => `draw ${number}`);
  return { title, done, figures: { runs: results.length }, broken };
}

/** Runs a scenario for each input; an error counts as a broken promise. */
async function each<I, R extends { readonly violations: readonly string[] }>(
  { onProgress }: Bench,
  title: string,
  inputs: readonly I[],
  play: (input: I) => Promise<R>,
  nameOf: (input: I) => string,
  atOnce: number = AT_ONCE,
): Promise<{ readonly results: readonly R[]; readonly broken: readonly string[] }> {
  const limit = pLimit(atOnce);
  const results: R[] = [];
  const broken: string[] = [];
  let done = 0;
  const one = async (input: I): Promise<void> => {
    try {
      const result = await play(input);
      results.push(result);
      broken.push(...result.violations.map((words) => `${nameOf(input)}: ${words}`));
    } catch (error) {
      broken.push(`${nameOf(input)}: ${error instanceof Error ? error.message : String(error)}`);
    }
    done += 1;
    onProgress(`${title}: ${done} of ${inputs.length}, ${broken.length} broken promises`);
  };
  await Promise.all(inputs.map((input) => limit(() => one(input))));
  return { results, broken };
}

const numbered = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
