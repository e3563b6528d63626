/** What the figures were taken on: processors, memory, versions, and how busy the machine was beside. */
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import about from '../../package.json' with { type: 'json' };

/** One fact a line. */
export function machineOf(): string[] {
  const [processor] = cpus();
  return [
    `${availableParallelism()} × ${processor?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}`,
    `load average when begun: ${loadavg()
      .map((it) => it.toFixed(2))
      .join(' ')}`,
    `Sluice ${about.version}, Node ${process.versions.node}, pg ${about.dependencies.pg}, PGlite ${about.dependencies['@electric-sql/pglite']}`,
  ];
}
