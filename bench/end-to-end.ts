/**
 * End to end: answers over loopback HTTP into normalized, keyed tables, each contestant a process of its own from start
 * to exit. Sluice by `sluice sync`, with ledger and vault, against dlt's rest_api source with merge and nested child
 * tables, and against MeltanoLabs target-postgres and sling, which are handed flat rows and ask nobody.
 */
import { join } from 'node:path';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, type Measured, scaled, type Setting, type Target } from './core/benchmark.ts';
import { dlt } from './peers/dlt.ts';
import { type Peer, PEER_SCHEMA } from './peers/peer.ts';
import { sling } from './peers/sling.ts';
import { targetPostgres } from './peers/target-postgres.ts';
import { execute, type Postgres, rowsBy } from './stage/postgres.ts';
import { type Service, startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { rowsIn, type Workload, type WorkloadName, workloadOf } from './stage/workload.ts';

/** Answers of each workload at full size: enough that no contestant's start is most of its time. */
const ANSWERS = { filings: 200, posts: 1_000, groups: 50, photoshare: 2_000 } as const;

const PEERS: Readonly<Record<string, { readonly make: () => Promise<Peer>; readonly target: Target }>> = {
  dlt: { make: () => dlt({ tuned: false }), target: { of: 'ratio', at: 'least', bound: 20 } },
  'dlt tuned': { make: () => dlt({ tuned: true }), target: { of: 'ratio', at: 'least', bound: 1 } },
  'target-postgres': { make: targetPostgres, target: { of: 'ratio', at: 'least', bound: 1 } },
  sling: { make: sling, target: { of: 'ratio', at: 'least', bound: 1 } },
};

export const endToEnd: Benchmark = {
  name: 'end-to-end',
  about:
    'answers over loopback HTTP into tables, rows a second of the whole process; ratios are Sluice’s rate over the peer’s',
  run: async (setting) => {
    const notes: string[] = [];
    const peers = await peersHere(setting, notes);
    const lines: Line[] = [];
    for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]) {
      const measured = await compare(setting, name, scaled(setting, ANSWERS[name], 2), peers);
      lines.push(...measured.lines);
      notes.push(...measured.notes);
    }
    return { lines, notes };
  },
};

/** The peers that can be had; of others the notes say why not. */
async function peersHere({ tell }: Setting, notes: string[]): Promise<Map<string, Peer>> {
  const peers = new Map<string, Peer>();
  for (const [name, { make }] of Object.entries(PEERS)) {
    tell(`getting ${name} ready`);
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

/** Loads twice into a fresh database and gives the times: the first time, and the same answers again. */
type Contestant = (round: number) => Promise<{ readonly cold: number; readonly warm: number }>;

async function compare(
  setting: Setting,
  name: WorkloadName,
  answers: number,
  peers: ReadonlyMap<string, Peer>,
): Promise<Measured> {
  const workload = workloadOf(name, answers);
  const rows = rowsIn(workload);
  const postgres = await setting.postgres();
  const service = await startService({ workload: name, answers });
  const folder = join(setting.folder, name);
  const found: Record<string, number> = {};
  try {
    const contestants: Record<string, Contestant> = {
      'sluice, Postgres': (round) => sluiceOnPostgres(join(folder, `sluice-${round}`), workload, service, postgres),
      'sluice, embedded': (round) => sluiceEmbedded(join(folder, `embedded-${round}`), workload, service),
    };
    for (const [peerName, peer] of peers) {
      const load = await peer.prepare({ workload, serviceUrl: service.url, folder: join(folder, peerName) });
      contestants[peerName] = async () => {
        const database = await postgres.create();
        await execute(database.url, `create schema ${PEER_SCHEMA}`);
        const cold = (await load(database.url)).wallMs;
        const warm = (await load(database.url)).wallMs;
        found[peerName] = sumOf(await rowsBy(database.url, PEER_SCHEMA, peer.bookkeeping));
        await database.drop();
        return { cold, warm };
      };
    }
    setting.tell(`${name}: ${rows} rows, ${Object.keys(contestants).join(', ')}`);
    const times = await alternate(setting.runs, contestants);
    const wrong = Object.entries(found).filter(([, count]) => count !== rows);
    return {
      lines: (['cold', 'warm'] as const).flatMap((state) => linesOf(name, state, rows, times)),
      notes: [
        `${name}: ${answers} answers with ${rows} rows (items and elements of their lists), the number that every contestant is held to`,
        ...wrong.map(([peer, count]) => `${name}: ${peer} holds ${count} rows of them`),
      ],
    };
  } finally {
    await service.stop();
  }
}

const sumOf = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

async function sluiceOnPostgres(
  folder: string,
  workload: Workload,
  service: Service,
  postgres: Postgres,
): ReturnType<Contestant> {
  const database = await postgres.create();
  const both = await twice(folder, workload, service, database.url);
  await database.drop();
  return both;
}

const sluiceEmbedded = (folder: string, workload: Workload, service: Service): ReturnType<Contestant> =>
  twice(folder, workload, service, 'embedded:warehouse');

async function twice(folder: string, workload: Workload, service: Service, warehouseUrl: string) {
  const sluice = await sluiceFor(folder, { workload, serviceUrl: service.url, warehouseUrl });
  const cold = (await sluice.run(SYNC)).wallMs;
  const warm = (await sluice.run(SYNC)).wallMs;
  return { cold, warm };
}

function linesOf(
  name: string,
  state: 'cold' | 'warm',
  rows: number,
  times: Readonly<Record<string, readonly { readonly cold: number; readonly warm: number }[]>>,
): Line[] {
  const rates = Object.entries(times).map(
    ([who, ran]) => [who, figureOf(ran.map((it) => (rows / it[state]) * 1000))] as const,
  );
  const ours = new Map(rates).get('sluice, Postgres')?.median ?? Number.NaN;
  return rates.map(([who, rate]) => {
    const target = PEERS[who]?.target;
    const more = target ? { ratio: { of: 'sluice / it', value: ours / rate.median }, target } : {};
    return lineOf(`${name}, ${state}: ${who}`, 'rows/s', rate, more);
  });
}
