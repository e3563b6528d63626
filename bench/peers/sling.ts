/** sling: files of JSON lines with flat rows, merged into Postgres by key. */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../stage/child.ts';
import { streamsOf, writeLines } from '../stage/flat.ts';
import { type Peer, PEER_SCHEMA } from './peer.ts';
import { pythonWith } from './python.ts';

/** The last version whose package contains the program; later ones download it. */
const VERSION = '1.4.11';

/** sling with one stream for each table, merged by its key. */
export async function sling(): Promise<Peer> {
  const kind = process.arch === 'arm64' ? 'arm64' : 'amd64';
  if (process.platform !== 'linux') throw new Error('its package has a program only for Linux');
  const python = await pythonWith(`sling-linux-${kind}==${VERSION}`);
  const program = await programIn(python, kind);
  await chmod(program, 0o755);
  return {
    version: `sling ${VERSION}, incremental by primary key, from files of JSON lines`,
    bookkeeping: '^$',
    prepare: async ({ workload, folder }) => {
      await mkdir(folder, { recursive: true });
      const streams: Record<string, unknown> = {};
      for (const { name, key, rows } of streamsOf(workload)) {
        const path = join(folder, `${name}.jsonl`);
        await writeLines(
          path,
          rows.map((row) => JSON.stringify(row)),
        );
        streams[`file://${path}`] = { object: `${PEER_SCHEMA}.${name}`, primary_key: key };
      }
      const replication = join(folder, 'replication.yaml');
      const defaults = { mode: 'incremental', source_options: { format: 'jsonlines', flatten: true } };
      // JSON is YAML.
      await writeFile(replication, JSON.stringify({ source: 'LOCAL', target: 'TARGET', defaults, streams }));
      return (databaseUrl) =>
        run(program, ['run', '-r', replication], {
          cwd: folder,
          env: {
            HOME: folder,
            SLING_HOME_DIR: join(folder, 'home'),
            SLING_DISABLE_TELEMETRY: 'true',
            TARGET: `${databaseUrl}?sslmode=disable`,
          },
        });
    },
  };
}

async function programIn(python: string, kind: string): Promise<string> {
  const found = (await readdir(python, { recursive: true })).find((it) => it.endsWith(`bin/sling-linux-${kind}`));
  if (found === undefined) throw new Error(`the package sling-linux-${kind} ${VERSION} contains no program`);
  return join(python, found);
}
