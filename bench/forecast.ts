/**
 * The forecast of a month: `sluice plan --for 30d` of a daily sync whose inputs were all answered before, as a complete
 * process, with and without a max_age that spreads the requests over the month.
 */
import { join } from 'node:path';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled } from './core/benchmark.ts';
import type { Ran } from './stage/child.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const INPUTS = 10_000;
/** The bound for a forecast, with the start of the process. */
const MOST_MS = 2000;
/** The inputs are answered under the first of these settings, which the second does without. */
const MAX_AGES = ['7d', 'null'];

export const forecast: Benchmark = {
  name: 'forecast',
  about: `the forecast of a month of a daily sync of ${INPUTS.toLocaleString('en')} inputs`,
  run: async (setting) => {
    const answers = scaled(setting, INPUTS, 100);
    const workload = workloadOf('profiles', answers);
    const service = await startService({ workload: workload.name, answers });
    const database = await (await setting.postgres()).create();
    const lines: Line[] = [];
    try {
      for (const [index, maxAge] of MAX_AGES.entries()) {
        const settings = { schedule: '"15 6 * * *"', max_age: maxAge };
        const options = { workload, serviceUrl: service.url, warehouseUrl: database.url, settings };
        const sluice = await sluiceFor(join(setting.folder, `forecast ${index}`), options);
        setting.report(`max_age: ${maxAge}`);
        if (index === 0) await sluice.run(SYNC);
        const ran: Ran[] = [];
        for (let round = 0; round < setting.runs; round += 1)
          ran.push(await sluice.run(['plan', '--for', '30d', '--json']));
        const what = `plan --for 30d of ${answers} inputs, max_age: ${maxAge}`;
        lines.push(
          lineOf(what, 'ms', figureOf(ran.map(({ wallMs }) => wallMs)), {
            target: { of: 'value', at: 'most', bound: MOST_MS },
          }),
          lineOf(`${what}, processor time`, 'ms', figureOf(ran.map(({ cpuMs }) => cpuMs))),
        );
      }
    } finally {
      await service.stop();
      await database.drop();
    }
    return { lines, notes: ['every input has a stored answer; a forecast sends nothing'] };
  },
};
