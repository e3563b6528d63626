/**
 * Small answers: `sluice sync` of fifty thousand answers of one profile each, with ledger, stored answers and load. The
 * target is a number of answers a second.
 */
import { join } from 'node:path';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, scaled } from './core/benchmark.ts';
import { busyDuring } from './core/machine.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const ANSWERS = 50_000;
const IN_FLIGHT = 64;
/** Answers a second. */
const TARGET = 2_000;

/** Without a limit in points, and with one that is never reached, as most configs have it. */
const BUDGETS = { profiles: undefined, 'profiles with a limit per day': '{ per_day: 1000000000 }' } as const;

export const smallAnswers: Benchmark = {
  name: 'small-answers',
  about: `answers of one profile through ledger, answer store and load, ${IN_FLIGHT} in flight: answers a second`,
  run: async (setting) => {
    const answers = scaled(setting, ANSWERS, 50);
    const workload = workloadOf('profiles', answers);
    const service = await startService({ workload: workload.name, answers, keepsLog: true });
    const postgres = await setting.postgres();
    const contestant = (name: string, budget: string | undefined) => async (round: number) => {
      const database = await postgres.create();
      const folder = join(setting.folder, `${name} ${round}`);
      const options = { workload, serviceUrl: service.url, warehouseUrl: database.url, inFlight: IN_FLIGHT };
      const sluice = await sluiceFor(folder, { ...options, ...(budget !== undefined && { budget }) });
      const { done: ran, busy } = await busyDuring(() => sluice.run(SYNC));
      const { firstAt, lastAt } = await service.span();
      await database.drop();
      const ofProcess = (answers / ran.wallMs) * 1000;
      setting.report(`${name}, round ${round + 1}: ${Math.round(ofProcess)} answers/s`);
      const ofRequests = (answers / (lastAt - firstAt)) * 1000;
      return { ofProcess, ofRequests, cpuMs: ran.cpuMs / answers, peakMb: ran.peakMb, busy };
    };
    try {
      const ran = await alternate(
        setting.runs,
        Object.fromEntries(Object.entries(BUDGETS).map(([name, budget]) => [name, contestant(name, budget)])),
      );
      return {
        lines: Object.entries(ran).flatMap(([name, all]) => {
          const figure = (key: keyof (typeof all)[number]) => figureOf(all.map((one) => one[key]));
          return [
            lineOf(`${name}, complete process`, 'answers/s', figure('ofProcess'), {
              target: { of: 'value', at: 'least', bound: TARGET },
            }),
            lineOf(`${name}, first request to last answer`, 'answers/s', figure('ofRequests')),
            lineOf(`${name}, processor time of Sluice`, 'ms an answer', figure('cpuMs')),
            lineOf(`${name}, processors of the machine in use`, '%', figure('busy')),
            lineOf(`${name}, peak memory`, 'MB', figure('peakMb')),
          ];
        }),
        notes: [
          `${answers} answers`,
          'under a limit, the log is read after a minute at the latest and at the end, and the cost of every request is confirmed',
        ],
      };
    } finally {
      await service.stop();
    }
  },
};
