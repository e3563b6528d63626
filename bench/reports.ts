/**
 * Reports: the commands that read a warehouse of a million answers, and a sync of one request in it, as complete
 * processes: duration and peak memory.
 */
import { join } from 'node:path';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, scaled } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { fillLedger } from './stage/ledger.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const ANSWERS = 1_000_000;
const RUNS = 400;
const SYNCS = 30;
const DAYS = 180;
/** The bound for each command. */
const MOST_MS = 2000;

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  status: ['status'],
  'status --json': ['status', '--json'],
  costs: ['costs'],
  'costs --json': ['costs', '--json'],
  report: ['report', '--output', 'report.html'],
  check: ['check'],
  plan: ['plan'],
  'quarantine list': ['quarantine', 'list'],
  'sync of one request': [...SYNC, '--refresh'],
};

export const reports: Benchmark = {
  name: 'reports',
  about: `status, costs, report and the like over ${ANSWERS.toLocaleString('en')} answers`,
  run: async (setting) => {
    const answers = scaled(setting, ANSWERS, 1000);
    const postgres = await setting.postgres();
    const database = await postgres.create();
    await (await warehouseAt(database.url)).close();
    await fillLedger(database.url, { answers, runs: RUNS, syncs: SYNCS, days: DAYS }, setting.report);
    const workload = { ...workloadOf('profiles', 1), answers: 1 };
    const service = await startService({ workload: workload.name, answers: 1 });
    try {
      const options = { workload, serviceUrl: service.url, warehouseUrl: database.url };
      const sluice = await sluiceFor(join(setting.folder, 'reports'), options);
      const contestants = Object.fromEntries(
        Object.entries(COMMANDS).map(([name, args]) => [
          name,
          () => {
            setting.report(name);
            return sluice.run(args);
          },
        ]),
      );
      const ran = await alternate(setting.runs, contestants);
      return {
        lines: Object.entries(ran).flatMap(([name, all]) => [
          lineOf(name, 'ms', figureOf(all.map(({ wallMs }) => wallMs)), {
            target: { of: 'value', at: 'most', bound: MOST_MS },
          }),
          lineOf(`${name}, peak memory`, 'MB', figureOf(all.map(({ peakMb }) => peakMb))),
        ]),
        notes: [
          `held: about ${answers.toLocaleString('en')} answers of ${SYNCS} syncs in ${RUNS} runs over ${DAYS} days, each with its request, and with its row of the request log if it is older than two days`,
          'half of the syncs ask the same in each run, the others ask for something new; bodies are empty lists',
        ],
      };
    } finally {
      await service.stop();
      await database.drop();
    }
  },
};
