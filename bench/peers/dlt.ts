/** dlt: its `rest_api` source sends requests to the same service and merges into Postgres, lists in nested child tables. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endpointNamed } from '../../src/service/catalog.ts';
import { run } from '../stage/child.ts';
import { type Peer, PEER_SCHEMA } from './peer.ts';
import { pythonWith } from './python.ts';

const VERSION = '1.31.0';
const SCRIPT = fileURLToPath(new URL('./dlt_rest.py', import.meta.url));

export interface DltOptions {
  /** Use the recommendations of dlt's performance guide: CSV loaded by COPY, requests in threads, two normalize processes. */
  readonly tuned: boolean;
}

/** dlt with the defaults of its documentation, or tuned. */
export async function dlt({ tuned }: DltOptions): Promise<Peer> {
  const python = await pythonWith(`dlt[postgres]==${VERSION}`);
  return {
    version: `dlt ${VERSION}${tuned ? ', tuned: csv by COPY, parallel requests, 2 normalize workers' : ', defaults'}`,
    bookkeeping: '^_dlt_',
    prepare: async ({ workload, serviceUrl, folder }) => {
      await mkdir(folder, { recursive: true });
      const inputs = join(folder, 'inputs.txt');
      const values = Array.from({ length: workload.answers }, (_, at) => workload.input(at));
      await writeFile(inputs, `${values.join('\n')}\n`);
      const isUrn = workload.field === 'urn';
      const eachInput = '{resources.inputs.value}';
      const inObjects = workload.key.filter((it) => it.startsWith('urn_'));
      const job = {
        url: serviceUrl,
        path: endpointNamed(workload.endpoint)?.path,
        name: workload.name,
        prefix: isUrn ? 'activity:' : '',
        body: {
          ...workload.request,
          [workload.field]: isUrn ? { type: 'activity', value: eachInput } : eachInput,
        },
        key: inObjects.length > 0 ? inObjects.map((it) => `${it}_key`) : workload.key,
        flat_key: Object.fromEntries(inObjects.map((it) => [`${it}_key`, it.split('_')])),
        inputs,
        schema: PEER_SCHEMA,
        parallel: tuned,
        format: tuned ? 'csv' : null,
      };
      return (databaseUrl) => {
        // The pipeline is named after the database: a second load continues its state, a load into a fresh database has none.
        const pipeline = `bench_${new URL(databaseUrl).pathname.slice(1)}${tuned ? '_tuned' : ''}`;
        const args = [SCRIPT, JSON.stringify({ ...job, pipeline, pipelines: join(folder, 'pipelines') })];
        return run(join(python, 'bin/python'), args, {
          cwd: folder,
          env: {
            DATABASE_URL: databaseUrl,
            HOME: folder,
            RUNTIME__DLTHUB_TELEMETRY: 'false',
            RUNTIME__LOG_LEVEL: 'ERROR',
            ...(tuned && { NORMALIZE__WORKERS: '2', EXTRACT__WORKERS: '8', LOAD__WORKERS: '8' }),
          },
        });
      };
    },
  };
}
