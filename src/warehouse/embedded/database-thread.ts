/**
 * Runs in the thread of the embedded database. It owns the database and its files, and exchanges messages of the wire
 * protocol with `thread.ts`. It is a file of its own in the bundle, so it imports no other file of the program.
 */
import { mkdir, rename, rm } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { OpenOptions, ThreadData, ThreadReply, ThreadRequest } from './thread.ts';

/** Replies are passed on in parts of at least this size, so that the other thread parses them meanwhile. */
const PART_BYTES = 64 * 1024;
/** Limits the write-ahead log. The default of up to 1 GB could fill a small disk. */
const SHORT_LOG = ['-c', 'max_wal_size=128MB', '-c', 'min_wal_size=32MB'];

/** The driver converts values, so the library need not read the types of the database at its start. */
class BareDatabase extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

const port = parentPort;
if (!port) throw new Error('this file runs only in a thread');

const post = (reply: ThreadReply, bytes?: ArrayBuffer): void => port.postMessage(reply, bytes ? [bytes] : []);

/**
 * Creates the database in a temporary folder and renames it, so that a killed process leaves no incomplete database.
 */
async function create(unfinished: string, data: string): Promise<void> {
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const pglite = await PGlite.create({ dataDir: unfinished });
  await pglite.close();
  await rename(unfinished, data);
}

/** Settings of V8 for the compilation of the database, each with its default. */
type Settings = readonly (readonly [set: string, standard: string])[];

/**
 * A function is optimized once it has executed about a gigabyte: with the default, the start-up is optimized too, which takes
 * longer than the start-up. A function is validated when it is first called, because a start calls few of them.
 */
const FOR_SHORT_RUNS: Settings = [
  ['--wasm-tiering-budget=1000000000', '--wasm-tiering-budget=13000000'],
  ['--wasm-lazy-validation', '--no-wasm-lazy-validation'],
];

/**
 * For the parser of statements, which is one function of 100 KB. Its optimization took 600 MB and 0.4 s of processor time of
 * `sluice status`, and made a sync of 6,000 requests no faster.
 */
const WITHOUT_OPTIMIZING: Settings = [
  ['--no-wasm-tier-up', '--wasm-tier-up'],
  ['--no-wasm-dynamic-tiering', '--wasm-dynamic-tiering'],
];

/**
 * Does work that compiles functions of the database with these settings. A function keeps the settings under which it was first
 * called. Afterwards the process has the defaults again, because V8 uses compiled modules only under the settings with which
 * they were compiled.
 */
async function compiledWith<T>(settings: Settings, work: () => Promise<T>): Promise<T> {
  for (const [set] of settings) setFlagsFromString(set);
  try {
    return await work();
  } finally {
    for (const [, standard] of settings) setFlagsFromString(standard);
  }
}

async function open({ dataDir, createIn, isLogShort }: OpenOptions): Promise<PGlite> {
  // A creation executes thousands of statements, enough to optimize the parser.
  if (createIn !== undefined) await compiledWith(WITHOUT_OPTIMIZING, () => create(createIn, dataDir));
  const startParams = [...PGlite.defaultStartParams, ...(isLogShort === true ? SHORT_LOG : [])];
  const pglite = new BareDatabase({ dataDir, startParams });
  await pglite.waitReady;
  // The first statement compiles the parser.
  await compiledWith(WITHOUT_OPTIMIZING, () => pglite.exec(''));
  return pglite;
}

/** Begins the fields of an error after which Postgres ends itself, such as that of a failed write to its log. */
const PANIC = 'SPANIC\0';
/** The types of messages of the database: an error, and the end of a reply, which has 6 bytes. */
const ERROR = 0x45;
const READY = 0x5a;

/**
 * The message of such an error at the end of a reply, or undefined. No reply ends there otherwise, and the driver would
 * wait for the rest without an end.
 */
function panicAtEnd(reply: Buffer): string | undefined {
  const start = reply.lastIndexOf(PANIC) - 5;
  if (start < 0 || reply[start] !== ERROR || start + 1 + reply.readUInt32BE(start + 1) !== reply.length)
    return undefined;
  const fields = reply.toString('utf8', start + 5).split('\0');
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? '';
}

/** Sends the messages to the database and posts its replies as they come. Throws if the database ended itself. */
async function exchange(pglite: PGlite, messages: Uint8Array): Promise<void> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const postPart = (isEnd: boolean): void => {
    const part = new Uint8Array(bytes);
    let at = 0;
    for (const it of parts) {
      part.set(it, at);
      at += it.length;
    }
    parts = [];
    bytes = 0;
    post({ kind: 'reply', part, isEnd }, part.buffer);
  };
  const onRawData = (data: Uint8Array): void => {
    // The data is a view of the database's memory.
    parts.push(data.slice());
    bytes += data.length;
    if (bytes >= PART_BYTES) postPart(false);
  };
  await pglite.execProtocolRawStream(messages, { onRawData });
  if (parts.at(-1)?.at(-6) !== READY) {
    const panic = panicAtEnd(Buffer.concat(parts));
    if (panic !== undefined) throw new Error(panic);
  }
  postPart(true);
}

/** An error as a message can carry it. Embedded Postgres also throws values without a message. */
function failed(error: unknown): ThreadReply {
  const { message, errno } = (error ?? {}) as { readonly message?: unknown; readonly errno?: unknown };
  return {
    kind: 'failed',
    ...(typeof message === 'string' && { message }),
    ...(typeof errno === 'number' && { errno }),
  };
}

async function serve(): Promise<void> {
  const pglite = await compiledWith(FOR_SHORT_RUNS, () => open((workerData as ThreadData).options));
  const answer = async (request: ThreadRequest): Promise<void> => {
    if (request !== 'close') return exchange(pglite, request);
    await pglite.close();
    post({ kind: 'closed' });
  };
  port?.on('message', (request: ThreadRequest) => {
    answer(request).catch((error: unknown) => post(failed(error)));
  });
  post({ kind: 'open' });
  // A thread that is ended does not write its part of the cache.
  flushCompileCache();
}

serve().catch((error: unknown) => post(failed(error)));
