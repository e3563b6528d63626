/** Memory: a million items through `sluice sync`, as answers of a thousand users: peak resident set and its slope. */
import { join } from 'node:path';
import { type Figure, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled } from './core/benchmark.ts';
import type { Ran } from './stage/child.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const ANSWERS = 1_000;
const ITEMS_IN_ANSWER = 1_000;
/** The slope is measured after this share of the time, without start-up. */
const WARMED_UP = 0.2;
/** A second slope is measured after this share, because memory that the allocator keeps levels off slowly. */
const SETTLED = 0.5;
/** A rise of this size in each hundred thousand items is a gigabyte in a hundred million. */
const FLAT_MB = 1;

export const memory: Benchmark = {
  name: 'memory',
  about: 'a million items through one sync: peak resident memory, and how much it rises during the sync',
  run: async (setting) => {
    const answers = scaled(setting, ANSWERS, 5);
    const workload = workloadOf('users', answers);
    const service = await startService({ workload: 'users', answers });
    const lines: Line[] = [];
    try {
      for (const kind of ['Postgres', 'embedded'] as const) {
        const ran: Ran[] = [];
        for (let round = 0; round < setting.runs; round += 1) {
          const database = kind === 'Postgres' ? await (await setting.postgres()).create() : undefined;
          const warehouseUrl = database?.url ?? 'embedded:warehouse';
          const folder = join(setting.folder, `${kind}-${round}`);
          ran.push(await (await sluiceFor(folder, { workload, serviceUrl: service.url, warehouseUrl })).run(SYNC));
          setting.report(`${kind}, round ${round + 1}: ${Math.round(ran.at(-1)?.peakMb ?? 0)} MB`);
          await database?.drop();
        }
        const items = answers * ITEMS_IN_ANSWER;
        const peak = figureOf(ran.map(({ peakMb }) => peakMb));
        const slopeFrom = (from: number): Figure => figureOf(ran.map((it) => slopeOf(it, items, from)));
        const rate = figureOf(ran.map(({ wallMs }) => (items / wallMs) * 1000));
        lines.push(
          lineOf(
            `${kind}: peak`,
            'MB',
            peak,
            kind === 'Postgres' ? { target: { of: 'value', at: 'most', bound: 250 } } : {},
          ),
          lineOf(`${kind}: slope`, 'MB per 100,000 items', slopeFrom(WARMED_UP), {
            target: { of: 'value', at: 'most', bound: FLAT_MB },
          }),
          lineOf(`${kind}: slope, second half`, 'MB per 100,000 items', slopeFrom(SETTLED)),
          lineOf(`${kind}: rate`, 'items/s', rate),
        );
      }
    } finally {
      await service.stop();
    }
    return {
      lines,
      notes: [
        `${answers} answers of ${ITEMS_IN_ANSWER} users; slope by least squares over the time after the first fifth, or after the first half`,
      ],
    };
  },
};

/** Megabytes by which the resident set rises in a hundred thousand items, after this share of the time. */
function slopeOf({ samples, wallMs }: Ran, items: number, from: number): number {
  const late = samples.filter(({ atMs }) => atMs > from * wallMs);
  const mean = (of: (sample: (typeof late)[number]) => number): number =>
    late.reduce((sum, it) => sum + of(it), 0) / late.length;
  const [atMean, rssMean] = [mean(({ atMs }) => atMs), mean(({ rssMb }) => rssMb)];
  const along = late.reduce((sum, { atMs, rssMb }) => sum + (atMs - atMean) * (rssMb - rssMean), 0);
  const square = late.reduce((sum, { atMs }) => sum + (atMs - atMean) ** 2, 0);
  const perMs = square === 0 ? Number.NaN : along / square;
  return (perMs * wallMs * 100_000) / items;
}
