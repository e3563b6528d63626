/** Opens Postgres inside this process, with its files in a folder that this process alone may use. */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PGliteDialect, type PGliteDialectConfig } from 'kysely';
import { TransientError } from '../errors.ts';
import { copyFromBlob, isCopy, partsOf } from './copy.ts';
import { parameterText, parserFor } from './values.ts';

/** Under the warehouse's folder, so that the lock and what else belongs to it lie outside of Postgres' own files. */
const DATA = 'data';
const UNFINISHED = 'data.new';

/** Opens the database in the folder, creating it the first time; only the holder of the folder's lock may call it. */
export async function openFolder(folder: string): Promise<PGlite> {
  const data = join(folder, DATA);
  try {
    if (!(await exists(data))) await create(folder, data);
    return await open({ dataDir: data });
  } catch (cause) {
    throw new TransientError(`The embedded warehouse in ${folder} can’t be opened: ${await reasonOf(cause, folder)}`, {
      next: 'See that the disk has room and the folder belongs to you; then try again. What was paid for is in there: keep the folder.',
      cause,
    });
  }
}

/** Postgres in this process throws values without a message too. */
async function reasonOf(cause: unknown, folder: string): Promise<string> {
  if (!(await exists(folder))) return 'the folder is gone';
  const { message, errno } = (cause ?? {}) as { readonly message?: unknown; readonly errno?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  return `its files can’t be read${typeof errno === 'number' ? ` (error ${errno})` : ''}`;
}

/** Opens a database that is gone when it is closed; `from` is a copy of another's data. */
export const openMemory = (from?: Blob): Promise<PGlite> =>
  open({ dataDir: 'memory://', ...(from && { loadDataDir: from }) });

type Queried = Exclude<PGliteDialectConfig['pglite'], (...given: never[]) => unknown>;

/** For kysely: the database, which takes `copyInto` statements as the driver for servers does. */
export const dialectOf = (pglite: PGlite): PGliteDialect =>
  new PGliteDialect({
    pglite: {
      ...copying(pglite),
      transaction: (work) => pglite.transaction((tx) => work({ ...copying(tx), rollback: () => tx.rollback() })),
      close: () => pglite.close(),
      get closed() {
        return pglite.closed;
      },
      get ready() {
        return pglite.ready;
      },
      get waitReady() {
        return pglite.waitReady;
      },
    },
  });

const copying = (of: Pick<PGlite, 'query'>): Pick<Queried, 'query'> => ({
  query: (text, values, options) =>
    isCopy(text)
      ? of.query(copyFromBlob(text), [], {
          ...options,
          blob: new Blob([...partsOf(values?.[0] as string | Iterable<string>)]),
        })
      : of.query(text, values, options),
});

/** Made aside and renamed, because a process that dies half-way would leave a folder that looks like a database. */
async function create(folder: string, data: string): Promise<void> {
  const unfinished = join(folder, UNFINISHED);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const pglite = await PGlite.create({ dataDir: unfinished });
  await pglite.close();
  await rename(unfinished, data);
}

async function open(options: { readonly dataDir: string; readonly loadDataDir?: Blob }): Promise<PGlite> {
  const pglite = await PGlite.create(options);
  // Every type that it has rules for gets those of the driver for servers. Arrays get theirs while it starts.
  for (const oid of Object.keys(pglite.parsers)) pglite.parsers[oid] = parserFor(Number(oid));
  for (const oid of Object.keys(pglite.serializers)) pglite.serializers[oid] = serialize;
  return pglite;
}

/** Its type says that a serializer gives text; null never comes here. */
const serialize = (value: unknown): string => parameterText(value) ?? '';

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
