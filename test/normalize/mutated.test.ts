/**
 * Thousands of answers of the sandbox in which something has gone wrong: each is kept to the byte and accounted for, none
 * throws, and each reject says why. `SLUICE_SEED` draws others, `SLUICE_LONG` ten thousand.
 */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { ingestAnswers } from '../../src/flow/ingest/ingest.ts';
import { planRequests } from '../../src/ledger/requests/planned.ts';
import { createRun } from '../../src/ledger/runs.ts';
import { type Ops, operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { storeAnswers } from '../../src/ledger/requests/store-and-record-sent.ts';
import { readAnswer } from '../../src/ledger/answers.ts';
import { decode } from '../../src/normalize/decode.ts';
import { catalog } from '../../src/service/catalog.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { clockFrom } from '../flow/clock.ts';
import { select } from '../flow/rows.ts';
import { sceneIn, service } from '../flow/scene.ts';
import { countOf } from '../support/long.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { drawsOf, mutatedBody } from './mutate.ts';

const SEED = Number(process.env['SLUICE_SEED'] ?? 20_260_306);
const ANSWERS = countOf(250, 10_000);
/** Enough to speak of several entities, few enough that ten thousand answers load in a minute. */
const ITEMS = 2;

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: data engineer, count: 5 } }
  schools: { endpoint: pronet.user.education, after: [people], request: { count: 5 }, for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users where _detail = 'full' order by urn_value limit 5" } } }
  reposts: { endpoint: pronet.post.reposts, request: { count: 5, urn: "activity:7100000000000000001" } }
  groups: { endpoint: pronet.group, request: { group: "1001" } }
  microbloggers: { endpoint: microblog.user, for_each: { user: [acme_labs, north_trail] } }
  photographers: { endpoint: photoshare.user, request: { user: acme_labs, with_posts: true, with_creation_date: true } }
  photos: { endpoint: photoshare.user.posts, request: { user: acme_labs, count: 5 } }
  pages: { endpoint: webparser.parse, request: { url: "https://site-1.example/about", extract_contacts: true } }
  filings: { endpoint: sec.search.companies, request: { count: 5 } }
  costs: { endpoint: token.requests, after: [people, schools, reposts, groups, microbloggers, photographers, photos, pages, filings] }
`;

interface Source {
  readonly endpoint: string;
  readonly request: RequestBody;
  readonly items: readonly unknown[];
}

/** Short answers of the sandbox to every endpoint. */
async function sourcesIn(warehouse: Warehouse): Promise<Source[]> {
  const scene = await sceneIn(warehouse);
  expect(await scene.sync(CONFIG)).toMatchObject({ exitCode: 0 });
  const answered = await select<{ endpoint: string; request: RequestBody; sent: string }>(
    warehouse,
    'select distinct on (a.endpoint) a.endpoint, r.body as request, a.id as sent from sluice_ops.answers a join sluice_ops.requests r on r.id = a.request_id where a.received > 0 order by a.endpoint, a.id',
  );
  return Promise.all(
    answered.map(async ({ endpoint, request, sent }) => {
      const answer = await readAnswer(operationsOf(warehouse), sent);
      const decoded = decode(answer?.body ?? new Uint8Array());
      if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
      return { endpoint, request, items: decoded.items.slice(0, ITEMS).map(short) };
    }),
  );
}

/** Long lists and texts take time and bring nothing that short ones don't. */
function short(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, 200);
  if (Array.isArray(value)) return value.slice(0, ITEMS).map(short);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, short(inner)]));
}

/** Requests of the ledger to put answers to, all of one endpoint. */
async function requestsFor(ops: Ops, { endpoint, request }: Source, count: number) {
  const now = new Date('2026-03-07T00:00:00Z');
  const run = await createRun(ops, { sync: endpoint, endpoint, definitionHash: 'x', holder: 'x', now });
  const tasks = Array.from({ length: count }, (_, index) => ({
    requestKey: createHash('sha256').update(`${endpoint} ${index}`).digest('hex'),
    request,
    body: request,
    input: {},
    depth: 0,
  }));
  await planRequests(ops, run, tasks, { at: now });
  return ops.selectFrom('requests').select('id').where('run_id', '=', run.id).orderBy('id').execute();
}

/** Answers that are stored and loaded at a time. */
const TOGETHER = 50;

async function keptAs(ops: Ops, ids: readonly (string | undefined)[]) {
  const kept = await Promise.all(ids.map((id) => readAnswer(ops, id ?? '')));
  return kept.filter((it) => it !== undefined);
}

const open = postgresWarehouses();

it(`${ANSWERS} answers, seed ${SEED}`, { timeout: countOf(600_000, 3_600_000) }, async () => {
  const warehouse = await open();
  const sources = await sourcesIn(warehouse);
  expect(sources.map(({ endpoint }) => endpoint)).toEqual(catalog.map(({ name }) => name).toSorted());
  const draw = drawsOf(SEED);
  const clock = clockFrom('2026-03-08T00:00:00Z');
  const ops = operationsOf(warehouse);
  const how = { purpose: { kind: 'settle' } as const, now: clock.now, sleep: clock.sleep, random: () => 0 };
  const sums = { answers: 0, received: 0, loaded: 0, unchanged: 0, superseded: 0, quarantined: 0, whole: 0 };
  for (const [index, source] of sources.entries()) {
    // The shares add up to ANSWERS, whatever the number of endpoints.
    const upTo = (count: number): number => Math.floor((ANSWERS * count) / sources.length);
    const requests = await requestsFor(ops, source, upTo(index + 1) - upTo(index));
    for (let at = 0; at < requests.length; at += TOGETHER) {
      const storing = requests.slice(at, at + TOGETHER).map(({ id }) => ({
        requestId: id,
        answer: { status: 200, headers: {}, body: mutatedBody(source.items, draw), receivedAt: clock.now(), tookMs: 1 },
      }));
      const takens = await ingestAnswers(warehouse, await keptAs(ops, await storeAnswers(ops, storing)), how);
      expect(takens).toHaveLength(storing.length);
      for (const [place, { answer: kept, batch, receipt, fault }] of takens.entries()) {
        expect({ fault, body: Buffer.from(kept.body).toString('latin1') }).toEqual({
          fault: undefined,
          body: storing[place]?.answer.body.toString('latin1'),
        });
        expect(kept.damage).toBeUndefined();
        expect(receipt.received).toBe(receipt.loaded + receipt.unchanged + receipt.superseded + receipt.quarantined);
        expect(batch.rejects).toHaveLength(receipt.quarantined);
        for (const name of ['received', 'loaded', 'unchanged', 'superseded', 'quarantined'] as const)
          sums[name] += receipt[name];
        if (batch.items.length === 0 && receipt.quarantined > 0) sums.whole += 1;
        sums.answers += 1;
      }
    }
  }
  expect(sums.answers).toBe(ANSWERS);
  // Some items load and some do not: the mutations reach the reader, the loader, and the refusals.
  expect(sums.loaded).toBeGreaterThan(ANSWERS / 10);
  expect(sums.quarantined - sums.whole).toBeGreaterThan(ANSWERS / 20);
  expect(sums.whole).toBeGreaterThan(ANSWERS / 10);
  const [counts] = await select(
    warehouse,
    `select count(*)::int as answers, count(loaded_at)::int as done, sum(received - loaded - unchanged - superseded - quarantined)::int as lost,
      (select count(*)::int from sluice_ops.quarantine where reason !~ '\\S') as silent,
      sum(quarantined)::int - (select count(*)::int from sluice_ops.quarantine) as unlisted
    from sluice_ops.answers`,
  );
  expect(counts).toMatchObject({ lost: 0, silent: 0, unlisted: 0 });
  expect(counts?.['answers']).toBe(counts?.['done']);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
