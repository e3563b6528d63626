/** When entities were last seen and since when they are missing, against a model that reads all answers each time. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { recordPresence } from '../../src/ledger/presence/record-presence.ts';
import { isUnreadable } from '../../src/ledger/failures/unreadable-answers.ts';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import { normalize, rejectedWhole } from '../../src/normalize/normalize.ts';
import type { Batch } from '../../src/normalize/batch.ts';
import { endpointNamed } from '../../src/service/catalog.ts';
import { countOf as requestedCountOf } from '../../src/service/endpoint.ts';
import type { KeyedRequest, RequestBody } from '../../src/service/request-body.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { arrayLiteral } from '../../src/warehouse/sql/array-literal.ts';
import { select } from '../flow/rows.ts';
import { askedOf, contextOf, receivedAt } from '../support/loading.ts';
import { IS_LONG } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';

/** An answer to a request with this count that has as many items is full. */
const COUNT = 4;

/** Entities of a table, and requests for them. */
interface Subject {
  readonly table: string;
  readonly key: string;
  readonly item: (id: string, version: string) => object;
  /** An item that contains the entity as its author. */
  readonly post: (id: string, author: object) => object;
  /** The request of a question, from the number of the sequence. */
  readonly requests: Readonly<Record<Answer['question'], (sequenceAt: number) => readonly [string, RequestBody]>>;
  /** The first two questions name the entity by an alias and a URL, and do not list. */
  readonly isNamed: boolean;
}

const people: Subject = {
  table: 'pronet_users',
  key: 'urn_value',
  item: (value, name) => ({ urn: { type: 'fsd_profile', value }, name }),
  post: (value, author) => ({ urn: { type: 'activity', value }, author }),
  requests: {
    0: (at) => ['pronet.search.users', { title: `${at} 0`, count: COUNT }],
    1: (at) => ['pronet.search.users', { title: `${at} 1`, count: COUNT }],
    2: (at) => ['pronet.post.reposts', { urn: { type: 'activity', value: `a${at}` }, count: COUNT }],
  },
  isNamed: false,
};

const profiles: Subject = {
  table: 'photoshare_users',
  key: 'id',
  item: (id, name) => ({ id, name }),
  post: (id, user) => ({ id, user }),
  requests: {
    0: (at) => ['photoshare.user', { user: `alias${at}` }],
    1: (at) => ['photoshare.user', { user: `https://photos.example/${at}` }],
    2: (at) => ['photoshare.user.posts', { user: `alias${at}`, count: COUNT }],
  },
  isNamed: true,
};

interface Answer {
  /** Its place among the answers of its sequence: the order of storing. */
  readonly place: number;
  /** The last question is one for posts, whose answers contain people only as authors. */
  readonly question: 0 | 1 | 2;
  readonly people: readonly number[];
  readonly kind: 'read' | 'with a reject' | 'unreadable' | 'missing';
}

/** Answers in the order in which they are loaded. */
const sequence: fc.Arbitrary<readonly Answer[]> = fc
  .array(
    fc.record({
      question: fc.constantFrom(0, 0, 1, 1, 2),
      people: fc.subarray([0, 1, 2, 3]),
      kind: fc.constantFrom('read', 'read', 'read', 'read', 'with a reject', 'unreadable', 'missing'),
    }),
    { minLength: 3, maxLength: 9 },
  )
  .chain((answers) => {
    const placed = answers.map((it, place): Answer => ({ ...it, place: place + 1 }));
    const late = fc.shuffledSubarray(placed, { minLength: placed.length });
    return fc.oneof(fc.constant(placed), late);
  });

const isRead = ({ kind }: Answer): boolean => kind === 'read' || kind === 'with a reject';
const peopleIn = (answer: Answer): readonly number[] => (isRead(answer) ? answer.people : []);
const isFull = ({ isNamed }: Subject, { people: { length }, question }: Answer): boolean =>
  length === COUNT && !(isNamed && question < 2);
const isComplete = (subject: Subject, answer: Answer): boolean =>
  answer.kind === 'missing' || (answer.kind === 'read' && !isFull(subject, answer));

/** What is known of a person from all answers of a sequence, as places of answers. */
function modelOf(
  subject: Subject,
  answers: readonly Answer[],
  person: number,
): { seen: number; missing: number | null } | undefined {
  const read = answers.filter(({ kind }) => kind !== 'unreadable').toSorted((a, b) => a.place - b.place);
  const holds = (it: Answer): boolean => peopleIn(it).includes(person);
  const seen = read.findLast(holds)?.place;
  if (seen === undefined) return undefined;
  const asked = ([0, 1, 2] as const).flatMap((question) => {
    const all = read.filter((it) => it.question === question);
    const last = all.findLast(holds)?.place;
    if (last === undefined) return [];
    const next = all.find((it) => it.place > last && isComplete(subject, it));
    // An alias or a URL that shows other people has moved to them.
    const gone = next && subject.isNamed && peopleIn(next).length > 0 && question < 2 ? 0 : next?.place;
    return [{ isItem: question < 2, gone, canTell: all.some((it) => isComplete(subject, it)) }];
  });
  const isProven = asked.some(({ isItem, gone }) => isItem && gone !== undefined && gone > seen);
  const isHeld = asked.some(({ gone, canTell }) => gone === undefined && canTell);
  const missing = isProven && !isHeld ? Math.max(...asked.map(({ gone }) => gone ?? 0)) : null;
  return { seen, missing };
}

/** The sequences differ in their people and questions. */
const valueOf = (sequenceAt: number, person: number): string => `${sequenceAt}ü${person}`;
const idOf = (sequenceAt: number, { place }: Answer): number => place * 1000 + sequenceAt;

interface Stored {
  readonly id: number;
  readonly endpoint: string;
  readonly keyed: KeyedRequest;
  readonly batch: Batch;
}

function stored(subject: Subject, sequenceAt: number, answer: Answer): Stored {
  const [name, request] = subject.requests[answer.question](sequenceAt);
  const endpoint = endpointNamed(name);
  if (!endpoint) throw new Error('no endpoint');
  const keyed = askedOf(name, request);
  const found = answer.people.map((person) => subject.item(valueOf(sequenceAt, person), `version ${answer.place}`));
  const items = answer.question < 2 ? found : found.map((it, index) => subject.post(`${sequenceAt}-${index}`, it));
  const body = Buffer.from(JSON.stringify(answer.kind === 'with a reject' ? [...items, { name: 'no key' }] : items));
  const batch =
    answer.kind === 'missing'
      ? { ...rejectedWhole(''), received: 0, rejects: [] }
      : answer.kind === 'unreadable'
        ? rejectedWhole('cut')
        : normalize(endpoint, keyed, body);
  return { id: idOf(sequenceAt, answer), endpoint: endpoint.name, keyed, batch };
}

/** Loads answers together, with the rows of the ledger that a late answer is compared with. */
async function take({ db, schema, ops }: Warehouse, group: readonly Stored[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const values = (of: (it: Stored) => string | number | boolean | null): string => arrayLiteral(group.map(of));
    // A run asks a question once, so each answer has a run of its own.
    await sql`insert into sluice_ops.runs (id, sync, endpoint, definition_hash, state, today, started_at)
      overriding system value
      select id, 's', '', '', 'complete', now(), now() from unnest(${values(({ id }) => id)}::bigint[]) as u(id)
      on conflict do nothing`.execute(tx);
    await sql`insert into sluice_ops.requests (id, run_id, sync, endpoint, request_key, body, input, state, planned_at, answer_id)
      overriding system value
      select id, id, 's', endpoint, key, '{}', '{}', 'loaded', now(), id
      from unnest(${values(({ id }) => id)}::bigint[], ${values(({ endpoint }) => endpoint)}::text[], ${values(({ keyed }) => keyed.requestKey)}::text[]) as u(id, endpoint, key)
      on conflict do nothing`.execute(tx);
    await sql`insert into sluice_ops.answers (id, request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers,
        encoding, sha256, bytes, asked, received, quarantined, unreadable, loaded_at)
      overriding system value
      select id, id, id, 's', '', '', at, 1, 200, '{}', '', '', 1, asked, received, rejects, unreadable, now()
      from unnest(${values(({ id }) => id)}::bigint[], ${values(({ batch }) => batch.received)}::bigint[],
        ${values(({ batch }) => batch.rejects.length)}::bigint[], ${values(({ batch }) => isUnreadable(batch))}::boolean[],
        ${values(({ id }) => receivedAt(id))}::timestamptz[], ${values(({ keyed }) => requestedCountOf(keyed.request) ?? null)}::bigint[])
        as u(id, received, rejects, unreadable, at, asked)
      on conflict do nothing`.execute(tx);
    const executor = sqlExecutorOn(tx, schema);
    await load(
      executor,
      group.map(({ id, batch }) => ({ batch, context: contextOf(id) })),
    );
    await recordPresence(
      executor,
      ops,
      group.map(({ id, endpoint, keyed, batch }) => ({
        answer: { id: String(id), endpoint, receivedAt: receivedAt(id) },
        identity: keyed,
        batch,
      })),
    );
  });
}

/** Loads the answers of all sequences, the first of each together, then the second of each. */
async function takeAll(
  warehouse: Warehouse,
  subject: Subject,
  sequences: readonly (readonly Answer[])[],
): Promise<void> {
  const longest = Math.max(...sequences.map(({ length }) => length));
  for (let turn = 0; turn < longest; turn += 1)
    await take(
      warehouse,
      sequences.flatMap((answers, at) => {
        const answer = answers[turn];
        return answer ? [stored(subject, at, answer)] : [];
      }),
    );
}

const EMPTY = `truncate sluice.pronet_users, sluice.pronet_posts, sluice.photoshare_users, sluice.photoshare_posts, sluice_ops.question_contents, sluice_ops.answers,
  sluice_ops.requests, sluice_ops.runs cascade`;

const presenceIn = (warehouse: Warehouse, { table, key }: Subject): Promise<readonly unknown[]> =>
  select(
    warehouse,
    `select ${key} as person, _last_seen_at as seen, _missing_since as missing from sluice.${table}_presence
     where ${key} like '%ü%' order by ${key} collate "C"`,
  );

function expected(subject: Subject, sequences: readonly (readonly Answer[])[]): readonly unknown[] {
  const instant = (at: number, place: number): Date => new Date(receivedAt(place * 1000 + at));
  return sequences
    .flatMap((answers, at) =>
      [0, 1, 2, 3].flatMap((person) => {
        const model = modelOf(subject, answers, person);
        if (!model) return [];
        const { seen, missing } = model;
        const known = { seen: instant(at, seen), missing: missing === null ? null : instant(at, missing) };
        return [{ person: valueOf(at, person), ...known }];
      }),
    )
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.person), Buffer.from(b.person)));
}

anyWarehouse('the presence of entities', (open) => {
  it.each([
    ['by lists', people],
    ['by name', profiles],
  ])(
    'is what all answers together say, in whatever order they are loaded, and a replay says the same: %s',
    async (_, subject) => {
      const warehouse = await open();
      await fc.assert(
        fc.asyncProperty(fc.array(sequence, { minLength: 60, maxLength: 60 }), async (sequences) => {
          await select(warehouse, EMPTY);
          const wanted = expected(subject, sequences);
          await takeAll(warehouse, subject, sequences);
          expect(await presenceIn(warehouse, subject)).toEqual(wanted);

          const inOrder = sequences.map((answers) => answers.toSorted((a, b) => a.place - b.place));
          await takeAll(warehouse, subject, inOrder);
          expect(await presenceIn(warehouse, subject)).toEqual(wanted);

          await select(warehouse, 'truncate sluice_ops.question_contents cascade');
          await takeAll(warehouse, subject, inOrder);
          expect(await presenceIn(warehouse, subject)).toEqual(wanted);
        }),
        { numRuns: IS_LONG ? 20 : 1, endOnFailure: true },
      );
    },
  );
});
