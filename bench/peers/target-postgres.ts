/** MeltanoLabs target-postgres: Singer messages of flat rows, upserted by COPY. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../stage/child.ts';
import { type Stream, streamsOf, writeLines } from '../stage/flat.ts';
import { type Peer, PEER_SCHEMA } from './peer.ts';
import { pythonWith } from './python.ts';

const VERSION = '0.8.1';

/** The target with its fastest settings: COPY, no validation, no metadata columns. */
export async function targetPostgres(): Promise<Peer> {
  const python = await pythonWith(`meltanolabs-target-postgres==${VERSION}`);
  return {
    version: `MeltanoLabs target-postgres ${VERSION}, upsert with use_copy, from a file of Singer messages`,
    bookkeeping: '^$',
    prepare: async ({ workload, folder }) => {
      await mkdir(folder, { recursive: true });
      const messages = join(folder, 'messages.jsonl');
      await writeLines(messages, singer(streamsOf(workload)));
      const config = join(folder, 'config.json');
      await writeFile(
        config,
        JSON.stringify({
          default_target_schema: PEER_SCHEMA,
          load_method: 'upsert',
          use_copy: true,
          validate_records: false,
          add_record_metadata: false,
          activate_version: false,
        }),
      );
      // The second config is the environment, because the address may contain a password and arguments are public.
      return (databaseUrl) =>
        run(join(python, 'bin/target-postgres'), ['--config', config, '--config=ENV'], {
          cwd: folder,
          input: messages,
          env: {
            HOME: folder,
            TARGET_POSTGRES_SQLALCHEMY_URL: databaseUrl.replace(/^postgres(ql)?:/, 'postgresql+psycopg:'),
          },
        });
    },
  };
}

function* singer(streams: readonly Stream[]): Generator<string> {
  for (const { name, key, rows, columns } of streams) {
    const properties = Object.fromEntries([...columns].map(([column, type]) => [column, { type: [type, 'null'] }]));
    const schema = { type: 'object', properties };
    yield JSON.stringify({ type: 'SCHEMA', stream: name, schema, key_properties: key });
    for (const record of rows) yield JSON.stringify({ type: 'RECORD', stream: name, record });
  }
}
