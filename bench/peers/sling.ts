/** sling: files of JSON lines with flat rows, merged into Postgres by key. */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, type Ran } from '../stage/child.ts';
import { type Stream, streamsOf, writeLines } from '../stage/flat.ts';
import { type Peer, PEER_SCHEMA } from './peer.ts';
import { pythonWith } from './python.ts';

/** The last version whose package contains the program; later ones download it. */
const VERSION = '1.4.11';

/** The installed program. */
export interface Sling {
  readonly version: string;
  /** Writes the configuration of a load: one stream for each file `NAME.jsonl` of the folder. */
  readonly configure: (folder: string, streams: readonly Pick<Stream, 'name' | 'key'>[]) => Promise<void>;
  /** Loads the files of a configured folder. */
  readonly load: (folder: string, databaseUrl: string) => Promise<Ran>;
}

/** sling with one stream for each table, merged by its key, from files that exist before the measurement. */
export async function sling(): Promise<Peer> {
  const { version, configure, load } = await installSling();
  return {
    version,
    bookkeeping: '^$',
    prepare: async ({ workload, folder }) => {
      await mkdir(folder, { recursive: true });
      const streams = streamsOf(workload);
      for (const { name, rows } of streams)
        await writeLines(
          join(folder, `${name}.jsonl`),
          rows.map((row) => JSON.stringify(row)),
        );
      await configure(folder, streams);
      return (databaseUrl) => load(folder, databaseUrl);
    },
  };
}

/** Installs sling if it is not yet installed. */
export async function installSling(): Promise<Sling> {
  const kind = process.arch === 'arm64' ? 'arm64' : 'amd64';
  if (process.platform !== 'linux') throw new Error('its package has a program only for Linux');
  const python = await pythonWith(`sling-linux-${kind}==${VERSION}`);
  const program = await programIn(python, kind);
  await chmod(program, 0o755);
  return {
    version: `sling ${VERSION}, incremental by primary key, from files of JSON lines`,
    configure,
    load: (folder, databaseUrl) =>
      run(program, ['run', '-r', configIn(folder)], {
        cwd: folder,
        env: {
          HOME: folder,
          SLING_HOME_DIR: join(folder, 'home'),
          SLING_DISABLE_TELEMETRY: 'true',
          TARGET: `${databaseUrl}?sslmode=disable`,
        },
      }),
  };
}

const configIn = (folder: string): string => join(folder, 'replication.yaml');

const configure: Sling['configure'] = async (folder, streams) => {
  const defaults = { mode: 'incremental', source_options: { format: 'jsonlines', flatten: true } };
  const configs = streams.map(({ name, key }): [string, object] => [
    `file://${join(folder, `${name}.jsonl`)}`,
    { object: `${PEER_SCHEMA}.${name}`, primary_key: key },
  ]);
  const replication = { source: 'LOCAL', target: 'TARGET', defaults, streams: Object.fromEntries(configs) };
  // JSON is YAML.
  await writeFile(configIn(folder), JSON.stringify(replication));
};

async function programIn(python: string, kind: string): Promise<string> {
  const found = (await readdir(python, { recursive: true })).find((it) => it.endsWith(`bin/sling-linux-${kind}`));
  if (found === undefined) throw new Error(`the package sling-linux-${kind} ${VERSION} contains no program`);
  return join(python, found);
}
