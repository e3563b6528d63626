/**
 * Small answers: `sluice sync` of fifty thousand answers of one profile each, with ledger, stored answers and load. The
 * target is a number of answers a second.
 */
import { join } from 'node:path';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, scaled } from './core/benchmark.ts';
import { busyDuring } from './core/machine.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const ANSWERS = 50_000;
const IN_FLIGHT = 64;

export const smallAnswers: Benchmark = {
  name: 'small-answers',
  about: `answers of one profile through ledger, answer store and load, ${IN_FLIGHT} in flight: answers a second`,
  run: async (setting) => {
    const answers = scaled(setting, ANSWERS, 50);
    const workload = workloadOf('profiles', answers);
    const service = await startService({ workload: workload.name, answers });
    const postgres = await setting.postgres();
    const ofProcess: number[] = [];
    const ofRequests: number[] = [];
    const peakMb: number[] = [];
    const cpuMs: number[] = [];
    const busyPercent: number[] = [];
    try {
      for (let round = 0; round < setting.runs; round += 1) {
        const database = await postgres.create();
        const folder = join(setting.folder, String(round));
        const options = { workload, serviceUrl: service.url, warehouseUrl: database.url, inFlight: IN_FLIGHT };
        const sluice = await sluiceFor(folder, options);
        const { done: ran, busy } = await busyDuring(() => sluice.run(SYNC));
        const { firstAt, lastAt } = await service.span();
        ofProcess.push((answers / ran.wallMs) * 1000);
        ofRequests.push((answers / (lastAt - firstAt)) * 1000);
        peakMb.push(ran.peakMb);
        cpuMs.push(ran.cpuMs / answers);
        busyPercent.push(busy);
        setting.report(`round ${round + 1}: ${Math.round(ofProcess.at(-1) ?? 0)} answers/s`);
        await database.drop();
      }
    } finally {
      await service.stop();
    }
    return {
      lines: [
        lineOf('profiles, complete process', 'answers/s', figureOf(ofProcess), {
          target: { of: 'value', at: 'least', bound: 2_000 },
        }),
        lineOf('profiles, first request to last answer', 'answers/s', figureOf(ofRequests)),
        lineOf('profiles, processor time of Sluice', 'ms an answer', figureOf(cpuMs)),
        lineOf('profiles, processors of the machine in use', '%', figureOf(busyPercent)),
        lineOf('profiles, peak memory', 'MB', figureOf(peakMb)),
      ],
      notes: [`${answers} answers`],
    };
  },
};
