/** Embedded databases in the thread of a test, which starts them from a copy sooner than a thread of its own would. */
import { PGlite } from '@electric-sql/pglite';
import type { EmbeddedDatabase } from '../../src/warehouse/embedded/thread.ts';

/** Postgres clears these when it starts: 128 MB, which is the default, took 0.15 s of the 0.6 s of processor time of an open. */
const FEW_BUFFERS = ['-c', 'shared_buffers=16MB'];

/** A database in memory with the data of another. */
export const openPGlite = (from: Blob): Promise<PGlite> =>
  PGlite.create({
    dataDir: 'memory://',
    loadDataDir: from,
    startParams: [...PGlite.defaultStartParams, ...FEW_BUFFERS],
  });

/** The database as a warehouse uses it. */
export const databaseOf = (pglite: PGlite): EmbeddedDatabase => ({
  exchange: (messages, onReply) =>
    pglite.execProtocolRawStream(messages, { onRawData: (bytes) => onReply(bytes.slice()) }),
  limitRunning: () => undefined,
  busyMs: () => undefined,
  fail: (error) => {
    throw error;
  },
  failed: new AbortController().signal,
  close: async () => void (pglite.closed || (await pglite.close())),
  end: async () => void (pglite.closed || (await pglite.close())),
});
