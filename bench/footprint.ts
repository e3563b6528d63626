/**
 * Footprint: bytes that one request with a small answer adds to the disk of a Postgres: ledger, stored answers and tables.
 * `docs/scale.md` calculates with these figures; they have no target.
 */
import { join } from 'node:path';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, scaled } from './core/benchmark.ts';
import { execute, valueOf } from './stage/postgres.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const ANSWERS = 20_000;
const IN_FLIGHT = 64;
/** Removes old row versions before the measurement, because a server that vacuums reuses their space. */
const COMPACT = 'vacuum full';

const sizeOf = (tables: string): string =>
  `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::text from pg_class c
   join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and ${tables}`;

const PARTS = [
  ['ledger, with indexes', "n.nspname = 'sluice_ops' and c.relname = 'requests'"],
  ['stored answers, with bodies and indexes', "n.nspname = 'sluice_ops' and c.relname = 'answers'"],
  ['names', "n.nspname = 'sluice_ops' and c.relname = 'identities'"],
  ['coverage', "n.nspname = 'sluice_ops' and c.relname = 'coverage'"],
  ['analyst tables', "n.nspname = 'sluice'"],
] as const;

export const footprint: Benchmark = {
  name: 'footprint',
  about: 'bytes that a request with a small answer adds to the ledger, the stored answers and the tables',
  onlyByName: true,
  run: async (setting) => {
    const answers = scaled(setting, ANSWERS, 50);
    const workload = workloadOf('profiles', answers);
    const service = await startService({ workload: workload.name, answers });
    const postgres = await setting.postgres();
    const bytes = new Map<string, number[]>();
    const note = (name: string, size: string): void => {
      bytes.set(name, [...(bytes.get(name) ?? []), Number(size) / answers]);
    };
    try {
      for (let round = 0; round < setting.runs; round += 1) {
        const database = await postgres.create();
        const options = { workload, serviceUrl: service.url, warehouseUrl: database.url, inFlight: IN_FLIGHT };
        await (await sluiceFor(join(setting.folder, String(round)), options)).run(SYNC);
        await execute(database.url, COMPACT);
        for (const [name, tables] of PARTS) note(name, await valueOf(database.url, sizeOf(tables)));
        note('bodies as sent', await valueOf(database.url, 'select sum(bytes)::text from sluice_ops.answers'));
        note(
          'bodies as stored',
          await valueOf(database.url, 'select sum(octet_length(body))::text from sluice_ops.answers'),
        );
        setting.report(
          `round ${round + 1}: ${Math.round(bytes.get(PARTS[1][0])?.at(-1) ?? 0)} bytes a request for the stored answer`,
        );
        await database.drop();
      }
    } finally {
      await service.stop();
    }
    return {
      lines: [...bytes].map(([name, sizes]) => lineOf(`profiles, ${name}`, 'bytes a request', figureOf(sizes))),
      notes: [`${answers} answers of one profile, after a vacuum full; autovacuum leaves up to twice that`],
    };
  },
};
