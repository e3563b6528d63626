/** The processor time of Sluice, of the Postgres server and of the service during a piece of work. */
import { readdir, readFile } from 'node:fs/promises';
import { valueOf } from './postgres.ts';
import type { Service } from './service.ts';

/** In milliseconds; NaN if the system does not report it. */
export interface ProcessorTime {
  readonly sluice: number;
  readonly postgres: number;
  readonly service: number;
}

/** Does the work, and adds the processor time of the server and the service to that of Sluice, which the work returns. */
export async function withProcessorTime<T extends { readonly cpuMs: number }>(
  serverUrl: string,
  service: Service,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly processor: ProcessorTime }> {
  const folder = await valueOf(serverUrl, 'show data_directory');
  const [server = ''] = (await readFile(`${folder}/postmaster.pid`, 'utf8').catch(() => '')).split('\n');
  const before = [await ofServer(server), await processorMsOf(String(service.pid))] as const;
  const result = await work();
  const [postgres, serving] = [await ofServer(server), await processorMsOf(String(service.pid))];
  return { result, processor: { sluice: result.cpuMs, postgres: postgres - before[0], service: serving - before[1] } };
}

/** The processor time of a server: its main process, its closed connections and its open ones. */
async function ofServer(pid: string): Promise<number> {
  const own = await fieldsOf(pid);
  if (!own) return Number.NaN;
  let ticks = own.used + own.ofEnded;
  for (const other of await readdir('/proc')) {
    const fields = /^\d+$/.test(other) ? await fieldsOf(other) : undefined;
    if (fields?.parent === pid) ticks += fields.used;
  }
  return ticks * MS_PER_TICK;
}

/** The processor time of a process and its threads, in milliseconds; NaN if it does not exist or is not reported. */
export const processorMsOf = async (pid: string): Promise<number> =>
  ((await fieldsOf(pid))?.used ?? Number.NaN) * MS_PER_TICK;

/** Linux counts in hundredths of a second. */
const MS_PER_TICK = 10;

async function fieldsOf(pid: string) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name at the start may contain blanks. After it come the state, the parent, and from the 12th field on the times.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 16) return undefined;
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number) as [number, number, number, number];
  return { parent: fields[1] ?? '', used: user + system, ofEnded: endedUser + endedSystem };
}
