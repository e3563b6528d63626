/**
 * Profile: where the time of `sluice sync` goes, in per cent of the total, for each workload, on the first load and on the
 * second. V8's profiler measures the process, and pg_stat_statements on a separate server measures the statements.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Benchmark, type Line, type Measured, scaled, type Setting } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { type Shares, sharesIn } from './stage/cpu-profile.ts';
import { connected, type Postgres, startPostgres } from './stage/postgres.ts';
import { SOURCES } from './stage/package.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { type WorkloadName, workloadOf } from './stage/workload.ts';

const ANSWERS = { filings: 200, posts: 1_000, groups: 50, photoshare: 2_000, profiles: 10_000 } as const;
const IN_FLIGHT = { filings: 8, posts: 8, groups: 8, photoshare: 8, profiles: 64 } as const;
/** How many of the longest parts, functions and statements are shown. */
const SHOWN = { parts: 18, functions: 14, statements: 12 };
const STATEMENT_LENGTH = 70;

export const profile: Benchmark = {
  name: 'profile',
  about:
    'where the time of one sync goes, and of the same again, in per cent of its process’s time: parts, functions, statements',
  onlyByName: true,
  run: async (setting) => {
    const preload = {
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track': 'all',
      'pg_stat_statements.track_planning': 'on',
    };
    const postgres = await startPostgres(preload);
    try {
      const lines: Line[] = [];
      const notes: string[] = [];
      for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]) {
        const measured = await profileOf(setting, postgres, name, scaled(setting, ANSWERS[name], 5), IN_FLIGHT[name]);
        lines.push(...measured.lines);
        notes.push(...measured.notes);
      }
      return { lines, notes };
    } finally {
      await postgres.stop();
    }
  },
};

async function profileOf(
  setting: Setting,
  postgres: Postgres,
  name: WorkloadName,
  answers: number,
  inFlight: number,
): Promise<Measured> {
  const workload = workloadOf(name, answers);
  const service = await startService({ workload: name, answers });
  const database = await postgres.create();
  const folder = join(setting.folder, name);
  const lines: Line[] = [];
  const notes: string[] = [];
  try {
    await (await warehouseAt(database.url)).close();
    await connected(database.url, (client) => client.query('create extension pg_stat_statements'));
    const options = { workload, serviceUrl: service.url, warehouseUrl: database.url, inFlight, main: SOURCES };
    const sluice = await sluiceFor(folder, options);
    for (const which of [name, `${name} again`]) {
      const profiles = join(folder, which);
      await mkdir(profiles, { recursive: true });
      await connected(database.url, (client) => client.query('select pg_stat_statements_reset()'));
      const { wallMs } = await sluice.run(SYNC, { node: ['--cpu-prof', `--cpu-prof-dir=${profiles}`] });
      lines.push(...linesOf(which, await sharesIn(profiles), await statementsOf(database.url)));
      notes.push(
        `${which}: ${answers} answers, ${inFlight} in flight, ${wallMs.toFixed(0)} ms with the profiler on, ${((1000 * answers) / wallMs).toFixed(0)} answers/s`,
      );
    }
    return { lines, notes };
  } finally {
    await service.stop();
    await database.drop();
  }
}

function linesOf(which: string, { parts, functions, wallMs }: Shares, statements: readonly Statement[]): Line[] {
  const line = (what: string, ms: number): Line => ({
    what: `${which}, ${what}`,
    value: (100 * ms) / wallMs,
    unit: '%',
  });
  const longest = (what: string, of: ReadonlyMap<string, number>, count: number): Line[] =>
    [...of].slice(0, count).map(([part, ms]) => line(`${what}: ${part}`, ms));
  return [
    ...longest('part', parts, SHOWN.parts),
    ...longest('function', functions, SHOWN.functions),
    line(
      'statements, together',
      statements.reduce((sum, it) => sum + it.ms, 0),
    ),
    ...statements
      .slice(0, SHOWN.statements)
      .map(({ calls, ms, planMs, text }) =>
        line(
          `statement, ${calls} calls, ${((ms * 1000) / calls).toFixed(0)} µs each, ${((planMs * 1000) / calls).toFixed(0)} of them planning: ${text}`,
          ms,
        ),
      ),
  ];
}

interface Statement {
  readonly calls: number;
  readonly ms: number;
  readonly planMs: number;
  readonly text: string;
}

async function statementsOf(url: string): Promise<Statement[]> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ calls: string; ms: string; plan_ms: string; query: string }>(
      `select calls, total_exec_time + total_plan_time as ms, total_plan_time as plan_ms, query from pg_stat_statements
       where dbid = (select oid from pg_database where datname = current_database()) order by 2 desc`,
    );
    return rows.map(({ calls, ms, plan_ms, query }) => ({
      calls: Number(calls),
      ms: Number(ms),
      planMs: Number(plan_ms),
      text: query.replaceAll(/\s+/g, ' ').slice(0, STATEMENT_LENGTH),
    }));
  });
}
