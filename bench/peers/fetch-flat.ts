/**
 * A script that requests answers and writes them as flat rows. argv: the file of its job. It writes a file of JSON lines for
 * each stream as the answers arrive, so its memory does not grow with them, and prints the names and keys of the streams.
 */
import { once } from 'node:events';
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { flattenItems, type Stream } from '../stage/flat.ts';
import type { Workload } from '../stage/workload.ts';

export interface FetchJob extends Pick<Workload, 'name' | 'key'> {
  /** The address of the endpoint. */
  readonly url: string;
  /** A file with the body of one request a line. */
  readonly requests: string;
  readonly inFlight: number;
  /** The folder for the files of the streams. */
  readonly folder: string;
}

interface Output extends Pick<Stream, 'name' | 'key'> {
  readonly file: WriteStream;
  /** Lines of the current answer. */
  lines: string;
}

const job = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FetchJob;
const bodies = readFileSync(job.requests, 'utf8').trimEnd().split('\n').values();
const agent = new Agent({ keepAlive: true, maxSockets: job.inFlight });
const outputs = new Map<string, Output>();
/** Resolves when the answers of all requests so far are written. */
let lastWritten = Promise.resolve();

async function post(body: string): Promise<readonly unknown[]> {
  const headers = {
    'access-token': 'bench-token',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const sent = request(job.url, { agent, method: 'POST', headers }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`the service answered ${response.statusCode}: ${answer}`);
  return JSON.parse(answer) as readonly unknown[];
}

function open(name: string, key: readonly string[]): Output {
  const output: Output = { name, key, file: createWriteStream(join(job.folder, `${name}.jsonl`)), lines: '' };
  outputs.set(name, output);
  return output;
}

/**
 * Writes the rows without a search for equal keys, which would cost time: no workload has two rows with the same key. sling
 * loads such rows twice into a new table, and fails at the next load.
 */
async function write(items: readonly unknown[]): Promise<void> {
  flattenItems(job, items, (name, key, row) => {
    const output = outputs.get(name) ?? open(name, key);
    output.lines += `${JSON.stringify(row)}\n`;
  });
  for (const output of outputs.values()) {
    if (output.lines === '') continue;
    const hasRoom = output.file.write(output.lines);
    output.lines = '';
    if (!hasRoom) await once(output.file, 'drain');
  }
}

/**
 * Requests one answer after the other until none is left. All workers share the requests, and write in the order of the
 * requests, because sling infers the types of columns from the first rows.
 */
async function work(): Promise<void> {
  for (const body of bodies) {
    const written = Promise.all([post(body), lastWritten]).then(([items]) => write(items));
    lastWritten = written;
    await written;
  }
}

await Promise.all(Array.from({ length: job.inFlight }, work));
agent.destroy();
await Promise.all([...outputs.values()].map(({ file }) => finished(file.end())));
console.log(JSON.stringify([...outputs.values()].map(({ name, key }) => ({ name, key }))));
