/** Erasure: nothing of the entity is left, nothing brings it back, and other entities stay unchanged. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HeldError, UsageError } from '../../src/errors.ts';
import { openJobs } from '../../src/engine/boss.ts';
import { syncJob } from '../../src/engine/job.ts';
import { forget, type ForgetOptions, type ForgetSummary, targetOf } from '../../src/flow/erasure/forget.ts';
import { searchFor } from '../../src/flow/erasure/target.ts';
import { readAnswer } from '../../src/ledger/answers.ts';
import { acquireLease } from '../../src/ledger/lease.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import { storeAnswers } from '../../src/ledger/requests/store-and-record-sent.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { rootTables } from '../../src/warehouse/schema/tables.ts';
import type { Respond } from '../../src/sandbox/options.ts';
import { batchOf, loadBatch } from '../support/loading.ts';
import { tracesOf } from '../support/traces.ts';
import { anyWarehouse, eachWarehouse, postgresWarehouses } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { disturbedAt, expireLeases } from './crash.ts';
import { type Rows, rowsOf, select } from './rows.ts';
import { countingIds, openScene, type Scene, sceneIn, service } from './scene.ts';

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { count: 15 }, for_each: { location: [Berlin] } }
  schools:
    endpoint: pronet.user.education
    after: [people]
    for_each: { urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users where _detail = 'full' order by urn_value limit 3" } }
    request: { count: 100 }
  groups: { endpoint: pronet.group, for_each: { group: ["1001"] } }
  reposts: { endpoint: pronet.post.reposts, for_each: { urn: ["urn:li:activity:7100000000000000001"] }, request: { count: 12 } }
  photographers: { endpoint: photoshare.user, for_each: { user: [acme_labs] }, request: { with_posts: true, with_similar_users: true } }
  photos: { endpoint: photoshare.user.posts, for_each: { user: [acme_labs] }, request: { count: 12 } }
  microbloggers: { endpoint: microblog.user, for_each: { user: ["@river_coffee"] } }
`;

/** Entities in every place that an answer has for one: each is the first that its query gives. */
const ENTITIES: readonly (readonly [table: string, where: string])[] = [
  ['pronet_users', 'exists (select from sluice.pronet_user_educations e where e.user_urn_value = t.urn_value)'],
  ['pronet_users', 'exists (select from sluice.pronet_group_members m where m.user_urn_value = t.urn_value)'],
  ['pronet_users', 'exists (select from sluice.pronet_posts p where p.author_urn_value = t.urn_value)'],
  ['pronet_users', 'exists (select from sluice.pronet_post_mentions m where m.urn_value = t.urn_value)'],
  ['pronet_companies', 'exists (select from sluice.pronet_user_educations e where e.company_urn_value = t.urn_value)'],
  ['photoshare_users', "alias = 'acme_labs'"],
  ['microblog_users', "alias = 'river_coffee'"],
  ['pronet_posts', "urn_value = '7100000000000000001'"],
  ['pronet_groups', 'true'],
];

const TELLING = [
  'urn_value',
  'internal_id_value',
  'internal_id',
  'id',
  'rest_id',
  'name',
  'alias',
  'url',
  'email',
  'phone',
];

interface Entity {
  readonly table: string;
  readonly key: readonly string[];
  /** The texts that identify the person. */
  readonly texts: readonly string[];
}

async function entityIn(warehouse: Warehouse, table: string, where: string): Promise<Entity> {
  const [row] = await select<Record<string, string | null>>(
    warehouse,
    `select * from sluice.${table} t where ${where} order by 1, 2 limit 1`,
  );
  if (!row) throw new Error(`no ${table} where ${where}`);
  const key = rootTables.find(({ name }) => name === table)?.key ?? [];
  return {
    table,
    key: key.map((name) => row[name] ?? ''),
    texts: TELLING.flatMap((name) => (typeof row[name] === 'string' && row[name] !== '' ? [row[name]] : [])),
  };
}

/** Two erasures get no id twice. */
const ids = countingIds(9);

const forgetIn = (
  scene: Scene,
  options: Pick<ForgetOptions, 'table' | 'key'> & Partial<ForgetOptions>,
  folder?: string,
): Promise<ForgetSummary> =>
  forget(
    scene.warehouse,
    { mayReturn: false, dryRun: false, ...options },
    {
      now: scene.clock.now,
      sleep: scene.clock.sleep,
      newId: ids,
      onProgress: () => undefined,
      ...(folder !== undefined && { spool: openSpool({ folder }) }),
    },
    new AbortController().signal,
  );

async function lived(scene: Scene): Promise<Scene> {
  for (let round = 0; round < 2; round += 1) {
    expect((await scene.sync(CONFIG)).exitCode).toBe(0);
    scene.clock.advance(DAY_MS + 1000);
  }
  return scene;
}

const ALL = { machinery: true, volatile: true };
const CONTENT = { volatile: true };

/** The rows that say nothing of the entity. */
const ofOthers = (rows: Rows, { texts }: Entity): Rows =>
  Object.fromEntries(
    Object.entries(rows).map(([table, all]) => [table, all.filter((row) => !texts.some((it) => row.includes(it)))]),
  );

/** Rows of the first that the second has not. */
const missing = (rows: Rows, from: Rows): readonly string[] =>
  Object.entries(rows).flatMap(([table, all]) => {
    const there = new Set(from[table] ?? []);
    return all.filter((row) => !there.has(row)).map((row) => `${table}: ${row}`);
  });

/** How many questions, and entities that left one, have the hash of this key. */
const hashedIn = async (warehouse: Warehouse, table: string, key: readonly string[]): Promise<number> => {
  const text = [...key.slice(0, -1).map((part) => `${Buffer.byteLength(part)}:${part}`), key.at(-1)].join('');
  const hashes = ['/', '>'].map((place) =>
    createHash('sha256')
      .update(table + place + text)
      .digest('hex')
      .slice(0, 16),
  );
  const isIn = (value: string): string =>
    hashes.map((hash) => `position('${hash}' in encode(${value}, 'hex')) > 0`).join(' or ');
  const [row] = await select<{ found: number }>(
    warehouse,
    `select (select count(*) from sluice_ops.question_contents where ${isIn('keys')})::int
      + (select count(*) from sluice_ops.left_entities where ${isIn('key')})::int as found`,
  );
  return row?.found ?? 0;
};

const presenceOf = async (warehouse: Warehouse, table: string): Promise<readonly string[]> =>
  (await select<{ row: string }>(warehouse, `select p::text as row from sluice.${table}_presence p order by 1`)).map(
    ({ row }) => row,
  );

/** Former texts about an author, which only the change log of posts has. */
const FORMER = ['zq former name of the author', 'zq_former_alias'];

/** Former texts about a person, which only the logs of a group that the person left and of removed educations have. */
const LEFT = ['zq former name of the member', 'zq former school'];

/** Logs that the person left a group under a former name, and had another education. */
async function logFormerMember(warehouse: Warehouse): Promise<void> {
  const [, where = ''] = ENTITIES[1] ?? [];
  const { key } = await entityIn(warehouse, 'pronet_users', where);
  const values = (attribute: string, text?: string): string => `'${attribute}', now(), '${text}', null, 1`;
  const person = key.map((part) => `'${part}'`).join(', ');
  await select(
    warehouse,
    `insert into sluice.pronet_group_member_changes select urn_type, urn_value, ${person}, ${values('user_name', LEFT[0])} from sluice.pronet_groups`,
  );
  await select(
    warehouse,
    `insert into sluice.pronet_user_education_changes select ${person}, 7, ${values('company_name', LEFT[1])}`,
  );
  expect(await tracesOf(warehouse, LEFT)).not.toEqual([]);
}

/** Logs that the author of a post had another name, and that another post was by the same author before. */
async function logFormerAuthors(warehouse: Warehouse): Promise<void> {
  const [, where = ''] = ENTITIES[2] ?? [];
  const { key, texts } = await entityIn(warehouse, 'pronet_users', where);
  const [alias = ''] = texts.slice(-1);
  const log =
    'insert into sluice.pronet_post_changes (post_urn_type, post_urn_value, attribute, changed_at, from_value, to_value, _answer_id)';
  const post = (isTheirs: boolean): string =>
    `from (select urn_type, urn_value from sluice.pronet_posts where (author_urn_value is not distinct from '${key[1]}') = ${isTheirs} limit 1) p`;
  await select(
    warehouse,
    `${log} select urn_type, urn_value, 'author_name', now(), '${FORMER[0]}', '${alias}', 1 ${post(true)}`,
  );
  await select(
    warehouse,
    `${log} select urn_type, urn_value, 'author_urn_value', now(), '${key[1]}', 'x', 1 ${post(false)}`,
  );
  await select(
    warehouse,
    `${log} select urn_type, urn_value, 'author_alias', now(), '${FORMER[1]}', '${alias}', 1 ${post(false)}`,
  );
  expect(await tracesOf(warehouse, FORMER)).not.toEqual([]);
}

const accountsIn = (warehouse: Warehouse) =>
  select(
    warehouse,
    `select sync, count(*) as requests, sum(points) as points, sum(attempts) as attempts,
      (select sum(received) from sluice_ops.answers a where a.sync = r.sync) as received,
      (select bool_and(received = loaded + unchanged + superseded + quarantined) from sluice_ops.answers) as adds_up
     from sluice_ops.requests r group by sync order by sync`,
  );

eachWarehouse('forgetting an entity', (open) => {
  /** Each test forgets another entity. */
  let scene: Scene;
  beforeAll(async () => {
    scene = await lived(await openScene(await open()));
    return () => scene.sandbox.close();
  });

  it('reaches unreadable answers, answers on the disk, and requests that are still planned', async () => {
    const { warehouse } = scene;
    const folder = await mkdtemp(join(tmpdir(), 'sluice-forget-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const entity = await entityIn(warehouse, 'microblog_users', 'true');
    const ops = operationsOf(warehouse);
    const [request] = await select<{ id: string; run_id: string }>(
      warehouse,
      "select id, run_id from sluice_ops.requests where sync = 'microbloggers' order by id desc limit 1",
    );
    const { id = '', run_id: runId = '' } = request ?? {};
    const xRequestId = '00000000-0000-4000-8000-0000000000aa';
    await ops.updateTable('requests').set({ x_request_id: xRequestId }).where('id', '=', id).execute();
    const whole = JSON.stringify([{ rest_id: entity.key[0], name: entity.texts.at(1), alias: 'river_coffee' }]);
    const answer = { status: 200, headers: {}, tookMs: 1, receivedAt: scene.clock.now() };
    await storeAnswers(ops, [{ requestId: id, answer: { ...answer, body: Buffer.from(whole.slice(0, -3)) } }]);
    await scene.replay({ names: ['microbloggers'] });
    const spool = openSpool({ folder });
    const kept = { ...answer, requestId: id, runId, sync: 'microbloggers', xRequestId };
    await spool.keep({ ...kept, body: Buffer.from(whole) });
    await spool.keep({ ...kept, body: Buffer.from(whole.slice(0, -3)) });
    // Only a header of this one names the entity.
    await spool.keep({ ...kept, headers: { 'x-note': 'for @river_coffee' }, body: Buffer.from('[]') });
    await ops.updateTable('requests').set({ state: 'planned' }).where('id', '=', id).execute();

    const summary = await forgetIn(scene, entity, folder);

    expect(summary).toMatchObject({ bodies: 1, spooled: 3 });
    expect(await tracesOf(warehouse, entity.texts, folder)).toEqual([]);
    expect(await readdir(folder)).toHaveLength(3);
    expect(await select(warehouse, `select state from sluice_ops.requests where id = ${id}`)).toEqual([
      { state: 'abandoned' },
    ]);
    expect(await select(warehouse, 'select spooled from sluice_ops.erasures')).toEqual([{ spooled: '3' }]);
  });

  it('removes its names from texts in a spool that only a second call finds', async () => {
    const { warehouse } = scene;
    const folder = await mkdtemp(join(tmpdir(), 'sluice-forget-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [, where] = ENTITIES[1] ?? [];
    const entity = await entityIn(warehouse, 'pronet_users', where ?? '');
    const name = entity.texts.find((text) => text.includes(' ')) ?? '';
    const [request] = await select<{ id: string; run_id: string; x_request_id: string }>(
      warehouse,
      "select id, run_id, x_request_id from sluice_ops.requests where sync = 'microbloggers' order by id desc limit 1",
    );
    if (!request) throw new Error('no request of microbloggers');
    const { id: requestId, run_id: runId, x_request_id: xRequestId } = request;
    const waiting = { requestId, runId, sync: 'microbloggers', xRequestId, status: 200, tookMs: 1 };
    const body = Buffer.from(JSON.stringify([{ rest_id: '1', name: 'Another', description: `Works with ${name}.` }]));
    await openSpool({ folder }).keep({
      ...waiting,
      receivedAt: scene.clock.now(),
      headers: { 'x-note': `for ${name}` },
      body,
    });
    await forgetIn(scene, entity);

    const summary = await forgetIn(scene, entity, folder);

    expect(summary).toMatchObject({ wasForgotten: true, spooled: 1 });
    expect(await tracesOf(warehouse, [name], folder)).toEqual([]);
    expect((await openSpool({ folder }).waiting()).answers).toHaveLength(1);
  });

  it('only reports what it would do in a dry run, and reports the same when it does it', async () => {
    const [, where] = ENTITIES[1] ?? [];
    const entity = await entityIn(scene.warehouse, 'pronet_users', where ?? '');
    const everything = async () => [
      await rowsOf(scene.warehouse, ALL),
      await select(scene.warehouse, 'select id, sha256, redacted_at from sluice_ops.answers order by id'),
      await select(scene.warehouse, 'select * from sluice_ops.requests order by id'),
      await select(scene.warehouse, 'select * from sluice_ops.erasures'),
    ];
    const before = await everything();

    const preview = await forgetIn(scene, { ...entity, dryRun: true });

    expect(await everything()).toEqual(before);
    expect(preview).toMatchObject({ dryRun: true, found: true, receipt: null });
    const done = await forgetIn(scene, entity);
    expect({ ...done, dryRun: true, receipt: null }).toEqual(preview);
    expect(await forgetIn(scene, entity)).toMatchObject({
      found: false,
      answers: 0,
      rows: {},
      receipt: String(Number(done.receipt) + 1),
    });
  });

  it('lets the entity return if the option says so, and forgets it again', async () => {
    const entity = await entityIn(scene.warehouse, 'pronet_groups', 'true');
    await forgetIn(scene, entity);
    await forgetIn(scene, { ...entity, mayReturn: true });
    expect((await scene.sync(CONFIG, { names: ['groups'] })).exitCode).toBe(0);
    expect(await entityIn(scene.warehouse, 'pronet_groups', 'true')).toMatchObject({ key: entity.key });

    expect(await forgetIn(scene, entity)).toMatchObject({ exitCode: 0, found: true, wasForgotten: true, requests: 1 });

    expect(await tracesOf(scene.warehouse, entity.texts)).toEqual([]);
    // Each erasure leaves its own question, so what the earlier one left of other entities stays.
    const questions = "select count(*)::int as n from sluice_ops.question_contents where endpoint = 'pronet.group'";
    expect(await select(scene.warehouse, questions)).toEqual([{ n: 2 }]);
  });
});

/** A photo profile, and a page whose address contains its alias, written in two ways. */
const PAGES = `${service()}
syncs:
  photographers: { endpoint: photoshare.user, for_each: { user: [acme_labs] } }
  pages:
    endpoint: webparser.parse
    for_each: { url: ["https://x.example/acme_labs/reels", "https://x.example/?u=acme%5Flabs", "https://x.example/about"] }
`;

const respondWithPages: Respond = ({ endpoint, body }) =>
  endpoint === 'webparser.parse'
    ? { body: [{ url: (body as { url: string }).url, cleaned_html: 'text', title: 'a page' }] }
    : undefined;

/** A profile with a short alias, in lists of another one whose elements have no declared shape. */
const LISTS = `${service()}
syncs:
  photographers: { endpoint: photoshare.user, for_each: { user: [bo_k, lena_k] }, request: { with_similar_users: true } }
`;

const respondWithLists: Respond = ({ body }) => {
  const alias = (body as { user: string }).user;
  const own = { alias, url: `https://photos.example/${alias}/` };
  if (alias === 'bo_k') return { body: [{ ...own, id: '90417733125', name: 'Bo Kim' }] };
  return {
    body: [
      {
        ...own,
        id: '880',
        name: 'Lena',
        mentions: ['mia_1', 'bo_k', { alias: 'bo_k', headline: 'zq headline' }],
        similar_users: [{ id: '90417733125', alias: 'bo_k', headline: 'zq headline' }, { id: '55' }],
        links: [{ to: { url: 'https://photos.example/bo_k/' }, title: 'zq headline' }],
        pinned_channels: [{ by: 'https://photos.example/bo_k/' }, { by: 'mia_1' }],
        // More than one statement reads.
        hashtags: Array.from({ length: 1_001 }, (_, n) => [n, 'bo_k']),
      },
    ],
  };
};

/** A person, and posts whose author and mention are that person by name alone. */
const KEYLESS = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 9 } }
  reposts: { endpoint: pronet.post.reposts, request: { urn: "urn:li:activity:7001", count: 9 } }
`;

const respondKeyless: Respond = ({ endpoint }) => {
  const person = { name: 'Quinn Abernathy', alias: 'quinn-abernathy-7', url: 'https://pronet.example/in/q7/' };
  const company = { urn: { type: 'fsd_company' }, alias: person.alias, headline: 'a company' };
  const post = (value: string, more: object) => ({ urn: { type: 'activity', value }, text: 'said', ...more });
  const users = [{ ...person, urn: { type: 'fsd_profile', value: 'ACoQ7' }, headline: 'zq headline' }];
  if (endpoint === 'pronet.search.users') return { body: users };
  return {
    body: [
      post('1', { author: { ...person, headline: 'zq headline', nickname: 'zq nickname' } }),
      post('2', { author: { url: person.url, headline: 'zq headline' }, mentioned: [{ alias: 'ola' }, person] }),
      post('3', { author: company }),
    ],
  };
};

/** Profiles of two networks with the same name. */
const NAMESAKES = `${service()}
syncs:
  photos: { endpoint: photoshare.user.posts, for_each: { user: [river_coffee] }, request: { count: 12 } }
  photographers: { endpoint: photoshare.user, for_each: { user: [river_coffee] } }
  microbloggers: { endpoint: microblog.user, for_each: { user: [river_coffee] } }
`;

/** Profiles of two networks with the same digits as ids. */
const SAME_DIGITS = `${service()}
syncs:
  microbloggers: { endpoint: microblog.user, for_each: { user: [writer] } }
  photographers: { endpoint: photoshare.user, for_each: { user: ["90417733"] } }
  photos: { endpoint: photoshare.user.posts, for_each: { user: ["90417733"] }, request: { count: 12 } }
`;

const respondWithSameDigits: Respond = ({ endpoint }) => {
  if (endpoint === 'microblog.user')
    return { body: [{ rest_id: '90417733', alias: 'writer', name: 'Wren Abernathy', location: 'Oslo' }] };
  const profile = { id: '90417733', alias: 'finch', biography: 'my number is 90417733', badge: { id: 90417733 } };
  return { body: [endpoint === 'photoshare.user' ? profile : { id: '5', text: 'by 90417733', user: profile }] };
};

/** Requests whose texts hold the name of a profile among other words. */
const AROUND = `${service()}
syncs:
  photographers: { endpoint: photoshare.user, for_each: { user: [river_coffee] } }
  photos:
    endpoint: photoshare.user.posts
    for_each: { user: ["mailto:river_coffee@mail.example", river_coffee@mail.example, "mailto:90417733@mail.example", other] }
    request: { count: 12 }
`;

/** A person with a short alias, whom unknown fields of others describe: a person, and a member of a group. */
const UNKNOWN = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 9 } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001"] } }
`;

const respondWithUnknownFields = ({ endpoint }: Parameters<Respond>[0], day: number): ReturnType<Respond> => {
  const person = (value: string, alias: string) => ({ urn: { type: 'fsd_profile', value }, alias, name: alias });
  const partner = { alias: 'bo_k', headline: day === 0 ? 'zq former' : 'zq headline' };
  if (endpoint === 'pronet.search.users')
    return { body: [person('ACoQ7', 'bo_k'), { ...person('ACoQ8', 'lena_k'), partner, mood: day }] };
  const member = { user: { ...person('ACoQ8', 'lena_k'), partner }, role: 'owner', invited_by: 'bo_k' };
  return { body: [{ urn: { type: 'group', value: '1001' }, name: 'g', url: 'g', member_count: 1, members: [member] }] };
};

/** The schools of a person with a short alias, which is in the request too. */
const SCHOOLS = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 9 } }
  schools:
    endpoint: pronet.user.education
    for_each: [{ urn: "fsd_profile:ACoQ7", alias: satyan }, { urn: "fsd_profile:ACoQ8", alias: lena_k }]
    request: { count: 100 }
`;

const respondWithSchool = (endpoint: string): ReturnType<Respond> => {
  if (endpoint === 'pronet.search.users')
    return { body: [{ urn: { type: 'fsd_profile', value: 'ACoQ7' }, alias: 'satyan', name: 'Satya N' }] };
  return { body: [{ company: { urn: { type: 'school', value: '9' }, name: 'a school' }, major: 'a major' }] };
};

it('an erasure changes every text that the digests which it leaves would change', () => {
  const names = new Map([['url', new Set(['https://p.example/acme_labs/'])]]);
  const { forgotten } = searchFor(targetOf('photoshare_users', ['90417733125']), names, names, new Set(), 'gone');
  expect(forgotten.scrub('see http://p.example/acme_labs/reels')).toBe('see http://gone/reels');
});

anyWarehouse('forgetting', (open, kind) => {
  it('reports wrong arguments, and does not wait', async () => {
    expect(() => targetOf('people', ['x'])).toThrow(UsageError);
    expect(() => targetOf('people', ['x'])).toThrow('people is not a table of entities');
    expect(() => targetOf('pronet_users', ['x'])).toThrow('the key of pronet_users has 2 parts, 1 given');
    expect(() => targetOf('fact_request_costs', ['x'])).toThrow(UsageError);
    expect(() => targetOf('pronet_user_educations', ['a', 'b', '1'])).toThrow(UsageError);
    if (kind === 'embedded') return;
    const scene = await sceneIn(await open());
    await acquireLease(operationsOf(scene.warehouse), 'sync:other', 'somebody', false);
    await expect(forgetIn(scene, { table: 'pronet_users', key: ['fsd_profile', 'x'] })).rejects.toThrow(HeldError);
  });

  it('removes pages whose address contains a name of the entity, and later plans leave them out', async () => {
    const scene = await sceneIn(await open(), { respond: respondWithPages });
    const { warehouse } = scene;
    expect((await scene.sync(PAGES)).exitCode).toBe(0);
    const entity = await entityIn(warehouse, 'photoshare_users', "alias = 'acme_labs'");

    expect(await forgetIn(scene, entity)).toMatchObject({ requests: 3, rows: { web_pages: 2 } });

    const pages = () => select(warehouse, 'select requested_url from sluice.web_pages');
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    expect(await pages()).toEqual([{ requested_url: 'https://x.example/about' }]);
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(await pages()).toEqual([{ requested_url: 'https://x.example/about' }]);
    scene.clock.advance(DAY_MS);
    expect((await scene.sync(PAGES)).exitCode).toBe(0);
    expect(await tracesOf(warehouse, ['acme_labs', 'acme%5Flabs'])).toEqual([]);
    expect(await pages()).toEqual([{ requested_url: 'https://x.example/about' }]);
    expect(scene.notices).toContainEqual({
      level: 'info',
      sync: 'pages',
      message: 'requests left out because they name a forgotten entity: 2',
    });
  });

  it('removes pages whose request has a second, equal answer', async () => {
    const scene = await sceneIn(await open(), { respond: respondWithPages });
    const { warehouse } = scene;
    const ops = operationsOf(warehouse);
    expect((await scene.sync(PAGES)).exitCode).toBe(0);
    const entity = await entityIn(warehouse, 'photoshare_users', "alias = 'acme_labs'");
    const { key } = await entityIn(warehouse, 'web_pages', "requested_url like '%/acme_labs/%'");
    for (const { id: requestId, answer_id: first } of await select<{ id: string; answer_id: string }>(
      warehouse,
      "select id, answer_id from sluice_ops.requests where sync = 'pages' order by id",
    )) {
      const body = (await readAnswer(ops, first))?.body ?? expect.fail('the answer is not stored');
      const answer = { status: 200, headers: {}, tookMs: 1, receivedAt: scene.clock.now(), body };
      await storeAnswers(ops, [{ requestId, answer }]);
    }
    expect(await scene.replay({ names: ['pages'] })).toMatchObject({ answers: 6, written: {} });
    expect(await hashedIn(warehouse, 'web_pages', key)).toBeGreaterThan(0);

    expect(await forgetIn(scene, entity)).toMatchObject({ rows: { web_pages: 2 } });

    expect(await select(warehouse, 'select requested_url from sluice.web_pages')).toEqual([
      { requested_url: 'https://x.example/about' },
    ]);
    expect(await hashedIn(warehouse, 'web_pages', key)).toBe(0);
    expect(await tracesOf(warehouse, ['acme_labs', 'acme%5Flabs'])).toEqual([]);
  });

  it('also removes the entity from answers that the spool brings later', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    const folder = await mkdtemp(join(tmpdir(), 'sluice-forget-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const sync = 'microbloggers';
    expect((await scene.sync(CONFIG, { names: [sync] })).exitCode).toBe(0);
    const entity = await entityIn(warehouse, 'microblog_users', 'true');
    const [request] = await select<{ id: string; run_id: string; x: string; answer_id: string; received_at: Date }>(
      warehouse,
      `select r.id, r.run_id, r.x_request_id as x, r.answer_id, a.received_at
        from sluice_ops.requests r join sluice_ops.answers a on a.id = r.answer_id where r.sync = '${sync}'`,
    );
    if (!request) throw new Error('nothing was requested');
    const { id: requestId, run_id: runId, x: xRequestId, received_at: receivedAt } = request;
    const own = await readAnswer(operationsOf(warehouse), request.answer_id);
    if (!own) throw new Error('the answer is not stored');
    const spool = openSpool({ folder });
    const kept = { status: 200, headers: {}, tookMs: 1, requestId, runId, sync, xRequestId };
    // The answer that the ledger knows, and an earlier one of which only the spool knows.
    await spool.keep({ ...kept, body: own.body, receivedAt });
    const earlier = Buffer.from(JSON.stringify([{ rest_id: entity.key[0], alias: 'river_coffee' }]));
    await spool.keep({ ...kept, body: earlier, receivedAt: new Date(receivedAt.getTime() - 2 * DAY_MS) });
    await forgetIn(scene, entity);

    await scene.sync(CONFIG, { names: [sync], effects: { spool } });

    expect((await readdir(folder)).filter((file) => file.endsWith('.answer'))).toEqual([]);
    expect(await select(warehouse, 'select count(*)::int as n from sluice_ops.answers')).toEqual([{ n: 2 }]);
    expect(await tracesOf(warehouse, entity.texts)).toEqual([]);
  });

  it('removes the records of unknown fields that have a name of the entity', async () => {
    const fans = { 'acme.labs': { since: 3 }, someone: { since: 4 } };
    const profile = { id: '90417733125', alias: 'acme.labs', name: 'Acme', fans, 'see acme.labs': 1 };
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) => (endpoint === 'photoshare.user' ? { body: [profile] } : undefined),
    });
    const { warehouse } = scene;
    expect((await scene.sync(CONFIG, { names: ['photographers'] })).exitCode).toBe(0);
    await select(
      warehouse,
      `insert into sluice_ops.drift (resource, path, kind, count, first_seen_at, last_seen_at, sample_type)
        values ('PhotoshareUser', 'fans.acme.labs.since', 'unknown field', 1, now(), now(), 'number')`,
    );
    const paths = () => select(warehouse, "select path from sluice_ops.drift where kind = 'unknown field' order by 1");
    const other = { path: 'fans' };
    expect(await paths()).toEqual([other, { path: 'fans.acme.labs.since' }, { path: 'see acme.labs' }]);

    expect(await forgetIn(scene, { table: 'photoshare_users', key: ['90417733125'] })).toMatchObject({
      rows: { drift: 2 },
    });

    expect(await paths()).toEqual([other]);
    expect(await tracesOf(warehouse, ['acme.labs'])).toEqual([]);
  });

  it('removes its names from the reasons why jobs were given up, and nothing else of the jobs', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    expect((await scene.sync(CONFIG, { names: ['photographers'] })).exitCode).toBe(0);
    const { key } = await entityIn(warehouse, 'photoshare_users', "alias = 'acme_labs'");
    const retry = { sleep: scene.clock.sleep, random: () => 0.5 };
    const jobs = await openJobs(warehouse, { onError: (error) => expect.fail(error.message), retry });
    onTestFinished(() => jobs.close());
    const told = { exitCode: 4, because: 'no posts of acme_labs', next: 'Ask acme_labs.' };
    const job = { ...syncJob('acme_labs'), ...told };
    const other = { ...syncJob('people'), exitCode: 1, because: 'a bug' };
    await jobs.enqueue([job, other].map((data) => ({ queue: 'dead', data })));
    const table = 'sluice_jobs.job';
    await select(warehouse, `update ${table} set output = '{"message": "acme_labs"}' where data ->> 'sync' = 'people'`);

    expect(await forgetIn(scene, { table: 'photoshare_users', key })).toMatchObject({ rows: { job: 2 } });

    const gone = expect.stringMatching(/^sluice-forgotten:/) as string;
    const left = await select(
      warehouse,
      `select data, output from ${table} where name = 'dead' order by data ->> 'sync'`,
    );
    expect(left).toEqual([
      {
        data: {
          ...job,
          because: expect.stringMatching(/^no posts of sluice-forgotten:/) as string,
          next: expect.stringMatching(/^Ask sluice-forgotten:/) as string,
        },
        output: null,
      },
      { data: other, output: { message: gone } },
    ]);
  });

  it('removes elements about the entity from lists of any shape, as from the answers', async () => {
    const scene = await sceneIn(await open(), { respond: respondWithLists });
    const { warehouse } = scene;
    expect((await scene.sync(LISTS)).exitCode).toBe(0);

    await forgetIn(scene, { table: 'photoshare_users', key: ['90417733125'] });

    expect(await tracesOf(warehouse, ['bo_k', 'zq headline', '90417733125'])).toEqual([]);
    const items = ['mentions', 'similar_users', 'links', 'pinned_channels', 'hashtags'].map(
      (list) => `select '${list}' as list, position::int, item from sluice.photoshare_user_${list}`,
    );
    const rows = () => select(warehouse, `${items.join(' union all ')} order by 1, 2`);
    const left = [
      { list: 'mentions', position: 0, item: 'mia_1' },
      { list: 'pinned_channels', position: 1, item: { by: 'mia_1' } },
      { list: 'similar_users', position: 1, item: { id: '55' } },
    ];
    expect(await rows()).toEqual(left);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(await rows()).toEqual(left);
  });

  it('removes an author and a mention who have a name of the entity and no key, as from the answers', async () => {
    const scene = await sceneIn(await open(), { respond: respondKeyless });
    const { warehouse } = scene;
    expect((await scene.sync(KEYLESS)).exitCode).toBe(0);

    await forgetIn(scene, { table: 'pronet_users', key: ['fsd_profile', 'ACoQ7'] });

    expect(await tracesOf(warehouse, ['zq headline', 'zq nickname', 'Quinn Abernathy'])).toEqual([]);
    const posts = () =>
      select(
        warehouse,
        `select p.urn_value, p.author_alias, p.author_headline, p.extra, m.alias
        from sluice.pronet_posts p left join sluice.pronet_post_mentions m on m.post_urn_value = p.urn_value order by 1`,
      );
    const rest = { author_alias: null, author_headline: null, extra: null, alias: null };
    const left = [
      { ...rest, urn_value: '1' },
      { ...rest, urn_value: '2', alias: 'ola' },
      {
        ...rest,
        urn_value: '3',
        author_alias: expect.stringMatching(/^sluice-forgotten:/),
        author_headline: 'a company',
      },
    ];
    expect(await posts()).toEqual(left);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(await posts()).toEqual(left);
  });

  it('removes unknown fields of the entity from rows that refer to it, and from their logs', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    const by = (urn: string, nickname: string) => ({ urn: { type: 'fsd_profile', value: urn }, name: urn, nickname });
    const posts = (mood: string, p: object, q: object, school: object) => [
      batchOf('pronet.post.reposts', { urn: { type: 'activity', value: '1' }, count: 9 }, [
        { urn: { type: 'activity', value: 'p' }, mood, author: p },
        { urn: { type: 'activity', value: 'q' }, mood, author: q },
      ]),
      batchOf('pronet.user.education', { urn: { type: 'fsd_profile', value: 'u' }, count: 9 }, [
        { company: { urn: { type: 'school', value: 's' }, name: 's', ...school } },
      ]),
    ];
    const answers = [
      ...posts('fine', by('zqwho', 'zq one'), by('zqwho', 'zq two'), { industry_full: by('zqwhat', 'zq three') }),
      ...posts('good', by('zqwho', 'zq four'), by('other', 'mine'), { industry_full: by('zqwhat', 'zq five') }),
    ];
    for (const [index, batch] of answers.entries()) await loadBatch(warehouse, batch, index + 1);

    await forgetIn(scene, { table: 'pronet_users', key: ['fsd_profile', 'zqwho'] });
    await forgetIn(scene, { table: 'pronet_industries', key: ['fsd_profile', 'zqwhat'] });

    expect(
      await tracesOf(warehouse, ['zqwho', 'zqwhat', 'zq one', 'zq two', 'zq three', 'zq four', 'zq five']),
    ).toEqual([]);
    const lines =
      "select post_urn_value as post, from_value, to_value from sluice.pronet_post_changes where attribute = 'extra' order by 1";
    expect(await select(warehouse, lines)).toEqual([
      { post: 'p', from_value: '{"mood":"fine"}', to_value: '{"mood":"good"}' },
      { post: 'q', from_value: '{"mood":"fine"}', to_value: '{"mood":"good"}' },
    ]);
    const [again, school] = posts('good', {}, by('other', 'mine'), { industry_full: {} });
    for (const [index, batch] of [again, school].entries())
      expect(batch && (await loadBatch(warehouse, batch, 9 + index))).toMatchObject({ loaded: 0 });
  });

  it('keeps the bridge rows of a person with the same name on another network', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    expect((await scene.sync(NAMESAKES)).exitCode).toBe(0);
    const bridge = () => select(warehouse, 'select user_asked, post_id from sluice.photoshare_user_posts order by 2');
    const before = await bridge();
    expect(before).toContainEqual(expect.objectContaining({ user_asked: 'river_coffee' }));

    await forgetIn(scene, await entityIn(warehouse, 'microblog_users', 'true'));

    expect(await bridge()).toEqual(before);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    await forgetIn(scene, await entityIn(warehouse, 'photoshare_users', "alias = 'river_coffee'"));
    expect(await bridge()).toEqual([]);
  });

  it('keeps an entity of another network whose id has the same digits', async () => {
    const scene = await sceneIn(await open(), { respond: respondWithSameDigits });
    const { warehouse } = scene;
    expect((await scene.sync(SAME_DIGITS)).exitCode).toBe(0);
    const others = async () => [
      await select(warehouse, 'select * from sluice.photoshare_users'),
      await select(warehouse, 'select * from sluice.photoshare_user_posts'),
      await select(warehouse, 'select id, text from sluice.photoshare_posts'),
      await select(
        warehouse,
        "select request_key, body, input from sluice_ops.requests where sync like 'photo%' order by id",
      ),
    ];
    const before = await others();

    await forgetIn(scene, { table: 'microblog_users', key: ['90417733'] });

    expect(await tracesOf(warehouse, ['writer', 'Wren Abernathy'])).toEqual([]);
    expect(await others()).toEqual(before);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await others()).toEqual(before);
    await forgetIn(scene, { table: 'photoshare_users', key: ['90417733'] });
    expect(await tracesOf(warehouse, ['90417733'])).toEqual([]);
  });

  it('removes a name among other words of a request from its bridge rows too', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, body }) => {
        if (endpoint === 'photoshare.user') return { body: [{ id: '90417733', alias: 'river_coffee' }] };
        return { body: [{ id: (body as { user: string }).user.includes('@') ? '1' : '2' }] };
      },
    });
    const { warehouse } = scene;
    expect((await scene.sync(AROUND)).exitCode).toBe(0);
    const bridge = () => select(warehouse, 'select user_asked, post_id from sluice.photoshare_user_posts order by 1');
    expect(await bridge()).toHaveLength(4);

    await forgetIn(scene, { table: 'photoshare_users', key: ['90417733'] });

    expect(await tracesOf(warehouse, ['river_coffee', '90417733'])).toEqual([]);
    const left = await bridge();
    expect(left).toEqual([
      { user_asked: expect.stringMatching(/^mailto:sluice-forgotten:\w+@mail\.example$/), post_id: '1' },
      { user_asked: 'other', post_id: '2' },
    ]);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await bridge()).toEqual(left);
  });

  it('removes bridge rows of another network if nobody there is known by the name', async () => {
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) => (endpoint === 'photoshare.user.posts' ? { body: [{ id: '1' }] } : undefined),
    });
    const { warehouse } = scene;
    expect((await scene.sync(NAMESAKES, { names: ['photos', 'microbloggers'] })).exitCode).toBe(0);
    const { texts, ...entity } = await entityIn(warehouse, 'microblog_users', 'true');

    expect(await forgetIn(scene, entity)).toMatchObject({ rows: { photoshare_user_posts: 1 } });

    expect(await tracesOf(warehouse, texts)).toEqual([]);
    const content = await rowsOf(warehouse, CONTENT);
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0 });
    expect(await rowsOf(warehouse, CONTENT)).toEqual(content);
  });

  it('keeps what the log says of a reference whose URN has the same value and another type', async () => {
    const scene = await sceneIn(await open());
    const { warehouse } = scene;
    const by = (type: string, value: string) => ({ urn: { type, value }, name: `${type} ${value}` });
    const posts = (authors: Readonly<Record<string, object>>) =>
      batchOf(
        'pronet.post.reposts',
        { urn: { type: 'activity', value: '1' }, count: 9 },
        Object.entries(authors).map(([value, author]) => ({ urn: { type: 'activity', value }, author })),
      );
    const [person, school, company] = [by('fsd_profile', 'u'), by('school', '1009'), by('fsd_company', '1009')];
    const rounds = [
      { school, company, both: company },
      { school: person, company: person, both: school },
    ];
    for (const [index, authors] of rounds.entries()) await loadBatch(warehouse, posts(authors), index + 1);

    await forgetIn(scene, { table: 'pronet_companies', key: ['fsd_company', '1009'] });

    expect(
      await select(
        warehouse,
        `select post_urn_value as post, attribute, from_value from sluice.pronet_post_changes
        where attribute in ('author_name', 'author_urn_value') order by 1, 2`,
      ),
    ).toEqual([
      { post: 'school', attribute: 'author_name', from_value: 'school 1009' },
      { post: 'school', attribute: 'author_urn_value', from_value: '1009' },
    ]);
  });

  it('removes the entity from unknown fields of other rows and from their logs, as from the answers', async () => {
    let day = 0;
    const scene = await sceneIn(await open(), { respond: (request) => respondWithUnknownFields(request, day) });
    const { warehouse } = scene;
    for (; day < 2; day += 1) {
      expect((await scene.sync(UNKNOWN)).exitCode).toBe(0);
      scene.clock.advance(DAY_MS + 1000);
    }

    await forgetIn(scene, { table: 'pronet_users', key: ['fsd_profile', 'ACoQ7'] });

    expect(await tracesOf(warehouse, ['bo_k', 'zq headline', 'zq former'])).toEqual([]);
    const content = await rowsOf(warehouse, CONTENT);
    expect(content['pronet_user_changes']).toHaveLength(1);
    expect(content['pronet_group_member_changes']).toBeUndefined();
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(await rowsOf(warehouse, CONTENT)).toEqual(content);
  });

  it('removes a short alias from each field of a request for the entity, and of the inputs', async () => {
    const scene = await sceneIn(await open(), { respond: ({ endpoint }) => respondWithSchool(endpoint) });
    const { warehouse } = scene;
    expect((await scene.sync(SCHOOLS)).exitCode).toBe(0);
    expect(await tracesOf(warehouse, ['satyan'])).not.toEqual([]);

    expect(await forgetIn(scene, { table: 'pronet_users', key: ['fsd_profile', 'ACoQ7'] })).toMatchObject({
      requests: 1,
    });

    expect(await tracesOf(warehouse, ['satyan', 'ACoQ7'])).toEqual([]);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {} });
    scene.clock.advance(DAY_MS);
    expect((await scene.sync(SCHOOLS)).exitCode).toBe(0);
    expect(await tracesOf(warehouse, ['satyan', 'ACoQ7'])).toEqual([]);
  });

  it('removes an alias that only the request gives, beside the URN of the entity', async () => {
    const scene = await sceneIn(await open(), { respond: () => ({ body: [] }) });
    const { warehouse } = scene;
    const schools = `${service()}
syncs:
  named: { endpoint: pronet.user.education, for_each: [{ urn: "fsd_profile:ACoQ7", alias: satyan }, { urn: "fsd_profile:ACoQ8", alias: lena_k }], request: { count: 9 } }
  by_alias: { endpoint: pronet.user.education, request: { urn: "fsd_profile:ACoQ7", count: 9 }, for_each: { alias: [satya_n] } }
`;
    expect((await scene.sync(schools)).exitCode).toBe(0);

    expect(await forgetIn(scene, { table: 'pronet_users', key: ['fsd_profile', 'ACoQ7'] })).toMatchObject({
      requests: 2,
    });

    expect(await tracesOf(warehouse, ['satyan', 'satya_n', 'ACoQ7'])).toEqual([]);
    expect(
      await select(warehouse, "select body ->> 'alias' as alias from sluice_ops.requests where body::text ~ 'ACoQ8'"),
    ).toEqual([{ alias: 'lena_k' }]);
  });

  it('leaves no trace of the entity, and other entities unchanged, through replays and later answers', async () => {
    const scene = await lived(await sceneIn(await open()));
    const { warehouse } = scene;
    const gone: string[] = [];
    await logFormerAuthors(warehouse);
    await logFormerMember(warehouse);
    const accounts = await accountsIn(warehouse);
    expect(accounts).toSatisfy((rows: typeof accounts) => rows.every(({ adds_up: addsUp }) => addsUp === true));

    let content = await rowsOf(warehouse, CONTENT);
    for (const [table, where] of ENTITIES) {
      const entity = await entityIn(warehouse, table, where);
      expect(await tracesOf(warehouse, entity.texts)).not.toEqual([]);
      expect(await hashedIn(warehouse, table, entity.key)).toBeGreaterThan(0);
      const before = content;
      const presence = await presenceOf(warehouse, table);

      const summary = await forgetIn(scene, entity);

      expect(summary).toMatchObject({ exitCode: 0, found: true, bodies: 0 });
      expect(summary.answers).toBeGreaterThan(0);
      expect(await tracesOf(warehouse, entity.texts), table).toEqual([]);
      content = await rowsOf(warehouse, CONTENT);
      expect(missing(ofOthers(before, entity), content), table).toEqual([]);
      for (const [of, key] of [[table, entity.key] as const, ['pronet_user_educations', [...entity.key, '0']] as const])
        expect(await hashedIn(warehouse, of, key), of).toBe(0);
      const others = presence.filter((row) => !entity.texts.some((text) => row.includes(text)));
      expect(await presenceOf(warehouse, table)).toEqual(others);
      gone.push(...entity.texts);
    }
    // Once for all of them: no answer has a trace of any, so no order of replays could differ.
    const after = await rowsOf(warehouse, ALL);
    expect(await scene.replay()).toMatchObject({ loaded: 0, written: {}, gone: null });
    expect(await rowsOf(warehouse, ALL)).toEqual(after);
    expect(await tracesOf(warehouse, [...FORMER, ...LEFT])).toEqual([]);
    expect(await scene.replay({ rebuild: true })).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(await rowsOf(warehouse, CONTENT)).toEqual(content);
    expect(await accountsIn(warehouse)).toEqual(accounts);
    expect(await tracesOf(warehouse, gone)).toEqual([]);

    scene.arrived();
    expect((await scene.sync(CONFIG)).exitCode).toBe(0);
    expect(await tracesOf(warehouse, gone)).toEqual([]);
    expect(scene.arrived().map(({ endpoint }) => endpoint)).not.toContain('pronet.group');
    expect(scene.notices).toContainEqual({
      level: 'info',
      sync: 'groups',
      message: 'requests left out because they name a forgotten entity: 1',
    });
    const receipts = JSON.stringify(await select(warehouse, 'select * from sluice_ops.erasures'));
    expect(gone.filter((text) => text.length > 4 && receipts.includes(text))).toEqual([]);
  });
});

describe('forgetting while a replay pauses', () => {
  const open = postgresWarehouses();

  it('takes its leases, and the replay ends without loading the entity again', async () => {
    const scene = await sceneIn(await open());
    expect((await scene.sync(CONFIG, { names: ['microbloggers'] })).exitCode).toBe(0);
    const entity = await entityIn(scene.warehouse, 'microblog_users', 'true');
    // By then the replay has read which entities are forgotten, and the bodies of its answers.
    const point = { when: 'after', statement: /"a"\."body", "a"\."encoding"/, nth: 1 } as const;
    const pausing = disturbedAt(scene.warehouse, point, async () => {
      await expireLeases(scene.warehouse);
      expect(await forgetIn(scene, entity)).toMatchObject({ found: true });
    });

    const replay = scene.replay({}, undefined, undefined, pausing);

    await expect(replay).rejects.toThrow('The lease of sync:microbloggers was taken over');
    await expect(replay).rejects.toThrow(HeldError);
    expect(await tracesOf(scene.warehouse, entity.texts)).toEqual([]);
  });
});
