/** Two writers on the same keys: answers of two syncs with the same entities in opposite orders, loaded at once. */
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { ingestAnswer } from '../../../src/flow/ingest/ingest.ts';
import { acquireLease } from '../../../src/ledger/lease.ts';
import { planRequests } from '../../../src/ledger/requests/planned.ts';
import { createRun } from '../../../src/ledger/runs.ts';
import { operationsOf } from '../../../src/warehouse/connect/operations-db.ts';
import { storeAnswers } from '../../../src/ledger/requests/store-and-record-sent.ts';
import { worldOf } from '../../../src/sandbox/world/world.ts';
import { pronetPostReposts } from '../../../src/service/endpoints/pronet-post-reposts.ts';
import { canonicalRequest, requestKeyOf } from '../../../src/service/request-key.ts';
import type { Warehouse } from '../../../src/warehouse/connect/connect.ts';
import { select } from '../../flow/rows.ts';
import { type WarehouseTemplates, withWarehouse } from '../warehouse-templates.ts';
import { WORLD } from '../workload.ts';

export interface Written {
  readonly rounds: number;
  /** By the server's own count. */
  readonly deadlocks: number;
  /** Loads that were retried, for any reason. */
  readonly retries: number;
  /** Answers whose counts do not add up, and answers that were never loaded. */
  readonly unaccounted: number;
  readonly tookMs: number;
}

const POSTS = 6;

/** Loads two answers at once, round after round, from two pools; every round changes every row. */
export async function twoWriters(templates: WarehouseTemplates, rounds: number): Promise<Written> {
  const database = await templates.create('postgres');
  const startedAt = performance.now();
  let retries = 0;
  try {
    const unaccounted = await withWarehouse(database.url, (one) =>
      withWarehouse(database.url, async (other) => {
        const [upwards, downwards] = [
          await writerOf(one, 'upwards', rounds),
          await writerOf(other, 'downwards', rounds),
        ];
        const onRetry = (): void => void (retries += 1);
        for (let round = 0; round < rounds; round += 1)
          await Promise.all([upwards.write(round, onRetry), downwards.write(round, onRetry)]);
        const rows = await select(one, UNACCOUNTED);
        return rows.length;
      }),
    );
    return {
      rounds,
      deadlocks: await deadlocksIn(database.url),
      retries,
      unaccounted,
      tookMs: performance.now() - startedAt,
    };
  } finally {
    await database.drop();
  }
}

const UNACCOUNTED = `select id from sluice_ops.answers
  where loaded_at is null or received is distinct from loaded + unchanged + superseded + quarantined`;

async function writerOf(warehouse: Warehouse, name: 'upwards' | 'downwards', rounds: number) {
  const ops = operationsOf(warehouse);
  const now = new Date();
  const endpoint = pronetPostReposts;
  const lease = await acquireLease(ops, `sync:${name}`, name, false);
  const run = await createRun(ops, { sync: name, endpoint: endpoint.name, definitionHash: name, holder: name, now });
  const tasks = Array.from({ length: rounds }, (_, round) => {
    const body = { urn: { type: 'activity', value: `${name} ${round}` }, count: 1000 };
    const request = canonicalRequest(endpoint, body);
    return { request, body, input: {}, depth: 0, requestKey: requestKeyOf(endpoint.name, request) };
  });
  await planRequests(ops, run, tasks, { at: now });
  const planned = await ops.selectFrom('requests').select('id').where('run_id', '=', run.id).orderBy('id').execute();
  const posts = postsOfWorld();
  const ordered = name === 'upwards' ? posts : posts.toReversed();
  return {
    write: async (round: number, onRetry: () => void): Promise<void> => {
      const items = ordered.map((post) => ({ ...post, text: `${name} ${round}`, [`unknown_${round % 3}`]: name }));
      const body = Buffer.from(JSON.stringify(items));
      const answer = { status: 200, headers: {}, body, receivedAt: new Date(), tookMs: 1 };
      const [answerId = ''] = await storeAnswers(ops, [{ requestId: planned[round]?.id ?? '', answer }]);
      await ingestAnswer(warehouse, answerId, {
        purpose: { kind: 'settle' },
        leases: [lease],
        now: () => new Date(),
        random: Math.random,
        sleep: async (ms) => {
          onRetry();
          await wait(ms);
        },
      });
    },
  };
}

/** Posts with authors, mentions and the reposted post: rows of nine tables. */
function postsOfWorld() {
  const world = worldOf(WORLD.seed, { ...WORLD.size }, () => new Date());
  return Array.from({ length: POSTS }, (_, index) => world.posts.reposts({ index }, 1, String)).flat();
}

/** Returns the number of deadlocks that the server found, once all connections have reported their statistics. */
async function deadlocksIn(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ others: number; deadlocks: number }>(
        `select (select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as others,
          deadlocks::int from pg_stat_database where datname = current_database()`,
      );
      const [row] = rows;
      if (row?.others === 0) return row.deadlocks;
      await wait(20);
    }
  } finally {
    await client.end();
  }
}
