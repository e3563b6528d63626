/** The machine of a measurement: processors, memory, versions, and its load. */
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import about from '../../package.json' with { type: 'json' };

/** The facts of the machine, one a line. */
export function machineOf(): string[] {
  const [processor] = cpus();
  return [
    `${availableParallelism()} × ${processor?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}`,
    `load average at the start: ${loadavg()
      .map((it) => it.toFixed(2))
      .join(' ')}`,
    `Sluice ${about.version}, Node ${process.versions.node}, pg ${about.dependencies.pg}, PGlite ${about.dependencies['@electric-sql/pglite']}`,
  ];
}

/** Does the work, and measures the use of the machine's processors by all processes during it, in per cent. */
export async function busyDuring<T>(work: () => Promise<T>): Promise<{ readonly done: T; readonly busy: number }> {
  const before = processorTimes();
  const done = await work();
  const after = processorTimes();
  return { done, busy: (1 - (after.idle - before.idle) / (after.all - before.all)) * 100 };
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((it) => it.times);
  const sum = (of: readonly number[]): number => of.reduce((total, ms) => total + ms, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((it) => Object.values(it))) };
}
