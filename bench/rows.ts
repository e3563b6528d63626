/**
 * Rows: the processor time from the bytes of an answer to the `COPY` text of its rows, without a database, the service,
 * the ledger and the answer store. Stored rows are never found, so every row is new.
 */
import { cpuUsage } from 'node:process';
import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import { load } from '../src/load/load.ts';
import { sqlExecutorOn } from '../src/load/sql/executor.ts';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled } from './core/benchmark.ts';
import { loadGroupsOf, normalizersOf, SCHEMA } from './stage/batches.ts';
import { rowsIn, workloadOf } from './stage/workload.ts';

const ANSWERS = { filings: 60, posts: 150, groups: 10, photoshare: 300 } as const;

/** The most microseconds a row; measured with a prototype of generated readers. */
const MOST_US = { filings: 2, posts: 8, groups: 13, photoshare: 7 } as const;

/** Rounds before the measurement, in which the code is compiled. */
const WARM_UP = 20;

export const rows: Benchmark = {
  name: 'rows',
  about: 'processor time a row from the bytes of an answer to the COPY text of its rows, without a database',
  run: async (setting) => {
    const lines: Line[] = [];
    for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]) {
      const workload = workloadOf(name, scaled(setting, ANSWERS[name], 2));
      const count = rowsIn(workload);
      const normalizers = normalizersOf(workload);
      const times = { normalize: [] as number[], both: [] as number[] };
      for (let round = -WARM_UP; round < setting.runs; round += 1) {
        const startedUs = processorUs();
        const batches = normalizers.map((batchOfAnswer) => batchOfAnswer());
        const normalizedUs = processorUs();
        for (const group of loadGroupsOf(batches, 1)) await load(sqlExecutorOn(emptyDatabase, SCHEMA), group);
        if (round < 0) continue;
        times.normalize.push((normalizedUs - startedUs) / count);
        times.both.push((processorUs() - startedUs) / count);
      }
      const target = { of: 'value', at: 'most', bound: MOST_US[name] } as const;
      lines.push(lineOf(`${name}: parse and normalize`, 'µs', figureOf(times.normalize)));
      lines.push(lineOf(`${name}: parse, normalize and load`, 'µs', figureOf(times.both), { target }));
    }
    return { lines, notes: [] };
  },
};

function processorUs(): number {
  const { user, system } = cpuUsage();
  return user + system;
}

/** A database without rows that reads every statement and stores nothing. */
const emptyDatabase = {
  executeQuery: ({ sql, parameters: [first] }: CompiledQuery): Promise<QueryResult<never>> => {
    let count = 0;
    if (sql.startsWith('copy ')) count = countLines(first as string | Iterable<string>);
    // Few rows are inserted as arrays. The first column is a key, and the keys of the workloads contain no comma.
    else if (sql.startsWith('insert ')) count = String(first).split(',').length;
    return Promise.resolve({ rows: [], numAffectedRows: BigInt(count) });
  },
} as unknown as Kysely<unknown>;

function countLines(text: string | Iterable<string>): number {
  let lines = 0;
  for (const part of typeof text === 'string' ? [text] : text)
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
