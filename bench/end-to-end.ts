/**
 * End to end: answers over loopback HTTP into normalized, keyed tables. Each contestant is a process of its own, measured
 * from start to exit. `sluice sync`, with ledger and stored answers, runs against dlt's rest_api source with merge and
 * nested child tables, and against MeltanoLabs target-postgres and sling, which get files of flat rows and send no request.
 * `fetch + flatten + sling` is sling behind a script that requests the answers and flattens them within the measured time.
 */
import { join } from 'node:path';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, type Measured, scaled, type Setting, type Target } from './core/benchmark.ts';
import { dlt } from './peers/dlt.ts';
import { fetchFlattenSling } from './peers/fetch-flatten-sling.ts';
import { type Peer, PEER_SCHEMA } from './peers/peer.ts';
import { sling } from './peers/sling.ts';
import { targetPostgres } from './peers/target-postgres.ts';
import { execute, rowsBy } from './stage/postgres.ts';
import { type ProcessorTime, withProcessorTime } from './stage/processor-time.ts';
import { type Service, startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { rowsIn, type Workload, workloadOf } from './stage/workload.ts';

/** Answers of each workload at full size: enough that start-up is a small part of the time of every contestant. */
const ANSWERS = { filings: 200, posts: 1_000, groups: 50, photoshare: 2_000 } as const;

const PEERS: Readonly<Record<string, () => Promise<Peer>>> = {
  dlt: () => dlt({ tuned: false }),
  'dlt tuned': () => dlt({ tuned: true }),
  'target-postgres': targetPostgres,
  sling,
  'fetch + flatten + sling': fetchFlattenSling,
};

/** The required ratio of Sluice's rate to a peer's rate on the first load. It is 1 on the second load and for other peers. */
const LEAST: Readonly<Record<string, Readonly<Record<keyof typeof ANSWERS, number>>>> = {
  dlt: { filings: 2.9, posts: 2.8, photoshare: 2.1, groups: 2 },
  'target-postgres': { filings: 2.5, posts: 1.4, photoshare: 0.95, groups: 1.25 },
  sling: { filings: 1.2, posts: 1.1, photoshare: 0.6, groups: 0.6 },
};
/** Most microseconds of Sluice's processor time a row on the first load. */
const MOST_MICROSECONDS: Readonly<Record<string, number>> = { filings: 15, posts: 44, photoshare: 72, groups: 60 };

export const endToEnd: Benchmark = {
  name: 'end-to-end',
  about:
    'answers over loopback HTTP into tables, rows a second of the complete process; ratios are Sluice’s rate over the peer’s',
  run: async (setting) => {
    const notes: string[] = [];
    const peers = await preparePeers(setting, notes);
    const lines: Line[] = [];
    for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]) {
      const measured = await compare(setting, name, scaled(setting, ANSWERS[name], 2), peers);
      lines.push(...measured.lines);
      notes.push(...measured.notes);
    }
    return { lines, notes };
  },
};

/** The peers that can be installed. A note names each other peer with the reason. */
async function preparePeers({ report }: Setting, notes: string[]): Promise<Map<string, Peer>> {
  const peers = new Map<string, Peer>();
  for (const [name, make] of Object.entries(PEERS)) {
    report(`preparing ${name}`);
    try {
      const peer = await make();
      peers.set(name, peer);
      notes.push(`${name}: ${peer.version}`);
    } catch (error) {
      notes.push(`NOT MEASURED, ${name}: ${(error as Error).message}`);
    }
  }
  return peers;
}

/** Loads the same answers twice into a fresh database; returns the duration of each load. */
type Contestant = (round: number) => Promise<Record<State, number>>;

type State = 'cold' | 'warm';

/** The processor time of each run of Sluice on Postgres. */
type ProcessorTimes = Readonly<Record<State, ProcessorTime[]>>;

async function compare(
  setting: Setting,
  name: keyof typeof ANSWERS,
  answers: number,
  peers: ReadonlyMap<string, Peer>,
): Promise<Measured> {
  const workload = workloadOf(name, answers);
  const rows = rowsIn(workload);
  const postgres = await setting.postgres();
  const service = await startService({ workload: name, answers });
  const folder = join(setting.folder, name);
  const loadedRows: Record<string, number> = {};
  const processor: ProcessorTimes = { cold: [], warm: [] };
  try {
    const contestants: Record<string, Contestant> = {
      'sluice, Postgres': async (round) => {
        const database = await postgres.create();
        const sluice = await sluiceFor(join(folder, `sluice-${round}`), {
          workload,
          serviceUrl: service.url,
          warehouseUrl: database.url,
        });
        const took = { cold: Number.NaN, warm: Number.NaN };
        for (const state of STATES) {
          const measured = await withProcessorTime(postgres.url, service, () => sluice.run(SYNC));
          took[state] = measured.result.wallMs;
          processor[state].push(measured.processor);
        }
        await database.drop();
        return took;
      },
      'sluice, embedded': (round) => sluiceEmbedded(join(folder, `embedded-${round}`), workload, service),
    };
    for (const [peerName, peer] of peers) {
      const load = await peer.prepare({ workload, serviceUrl: service.url, folder: join(folder, peerName) });
      contestants[peerName] = async () => {
        const database = await postgres.create();
        await execute(database.url, `create schema ${PEER_SCHEMA}`);
        const cold = (await load(database.url)).wallMs;
        const warm = (await load(database.url)).wallMs;
        loadedRows[peerName] = sumOf(await rowsBy(database.url, PEER_SCHEMA, peer.bookkeeping));
        await database.drop();
        return { cold, warm };
      };
    }
    setting.report(`${name}: ${rows} rows, ${Object.keys(contestants).join(', ')}`);
    const times = await alternate(setting.runs, contestants);
    const differing = Object.entries(loadedRows).filter(([, count]) => count !== rows);
    return {
      lines: STATES.flatMap((state) => [
        ...linesOf(name, state, rows, times),
        ...processorLines(name, state, rows, processor[state]),
      ]),
      notes: [
        `${name}: ${answers} answers with ${rows} rows (items and elements of their lists); every rate uses this number`,
        ...differing.map(([peer, count]) => `${name}: ${peer} has ${count} rows at the end`),
      ],
    };
  } finally {
    await service.stop();
  }
}

const sumOf = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

const STATES = ['cold', 'warm'] as const;

async function sluiceEmbedded(folder: string, workload: Workload, service: Service): ReturnType<Contestant> {
  const sluice = await sluiceFor(folder, { workload, serviceUrl: service.url, warehouseUrl: 'embedded:warehouse' });
  const cold = (await sluice.run(SYNC)).wallMs;
  const warm = (await sluice.run(SYNC)).wallMs;
  return { cold, warm };
}

function linesOf(
  name: keyof typeof ANSWERS,
  state: State,
  rows: number,
  times: Readonly<Record<string, readonly Record<State, number>[]>>,
): Line[] {
  const rates = Object.entries(times).map(
    ([who, ran]) => [who, figureOf(ran.map((it) => (rows / it[state]) * 1000))] as const,
  );
  const ours = new Map(rates).get('sluice, Postgres')?.median ?? Number.NaN;
  return rates.map(([who, rate]) => {
    const bound = (state === 'cold' ? LEAST[who]?.[name] : undefined) ?? 1;
    const target: Target = { of: 'ratio', at: 'least', bound };
    const more = who in PEERS ? { ratio: { of: 'sluice / it', value: ours / rate.median }, target } : {};
    return lineOf(`${name}, ${state}: ${who}`, 'rows/s', rate, more);
  });
}

/** Processor time varies less than elapsed time on a machine with other work. */
const processorLines = (name: string, state: State, rows: number, times: readonly ProcessorTime[]): Line[] =>
  (['sluice', 'postgres', 'service'] as const).map((who) => {
    const bound = state === 'cold' && who === 'sluice' ? MOST_MICROSECONDS[name] : undefined;
    const target: Target | undefined = bound === undefined ? undefined : { of: 'value', at: 'most', bound };
    return lineOf(
      `${name}, ${state}: processor time a row, ${who}`,
      'µs',
      figureOf(times.map((it) => (it[who] * 1000) / rows)),
      target && { target },
    );
  });
