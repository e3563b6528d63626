/** sling behind a script that does the rest of Sluice's path: it requests the answers and flattens them into sling's files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endpointNamed } from '../../src/service/catalog.ts';
import { run } from '../stage/child.ts';
import { type Stream, writeLines } from '../stage/flat.ts';
import { IN_FLIGHT } from '../stage/sluice.ts';
import type { FetchJob } from './fetch-flat.ts';
import type { Peer } from './peer.ts';
import { installSling } from './sling.ts';

const SCRIPT = fileURLToPath(new URL('./fetch-flat.ts', import.meta.url));

/** A load lasts from the spawn of the script to the exit of sling. Every load requests all answers. */
export async function fetchFlattenSling(): Promise<Peer> {
  const { version, configure, load } = await installSling();
  return {
    version: `a Node script with ${IN_FLIGHT} requests in flight writes flat rows, then ${version}`,
    bookkeeping: '^$',
    prepare: async ({ workload, serviceUrl, folder }) => {
      await mkdir(folder, { recursive: true });
      const requests = join(folder, 'requests.txt');
      const bodies = Array.from({ length: workload.answers }, (_, at) =>
        JSON.stringify({ ...workload.request, [workload.field]: workload.wire(workload.input(at)) }),
      );
      await writeLines(requests, bodies);
      const { name, key } = workload;
      const url = `${serviceUrl}${endpointNamed(workload.endpoint)?.path}`;
      const job = join(folder, 'job.json');
      await writeFile(
        job,
        JSON.stringify({ url, requests, inFlight: IN_FLIGHT, name, key, folder } satisfies FetchJob),
      );
      return async (databaseUrl) => {
        const fetched = await run(process.execPath, [SCRIPT, job]);
        await configure(folder, JSON.parse(fetched.stdout) as Pick<Stream, 'name' | 'key'>[]);
        const loaded = await load(folder, databaseUrl);
        return { wallMs: loaded.spawnedAt + loaded.wallMs - fetched.spawnedAt };
      };
    },
  };
}
