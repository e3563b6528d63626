/** The views of history over random answers: no overlap, no gap, one current version, and the versions of a model. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Batch } from '../../src/normalize/batch.ts';
import { digestOf } from '../../src/service/canonical-json.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { quotedList } from '../../src/warehouse/sql/identifiers.ts';
import { rootTables } from '../../src/warehouse/schema/tables.ts';
import { select } from '../flow/rows.ts';
import { countOf } from '../support/long.ts';
import { batchOf, contextOf, receivedAt } from '../support/loading.ts';
import { anyWarehouse } from '../support/warehouse.ts';

/** What an answer says of its entity: a text, another text, and whether an author is a preview of a person. */
interface Said {
  readonly title: string | null;
  readonly body: string;
  readonly isPreview: boolean;
}
type Kind = 'page' | 'microblogger' | 'person';
interface Sequence {
  readonly kind: Kind;
  readonly answers: readonly Said[];
  /** The indexes of the answers in the order in which they are loaded. */
  readonly order: readonly number[];
}

const sequence: fc.Arbitrary<Sequence> = fc
  .record({
    kind: fc.constantFrom<Kind>('page', 'microblogger', 'person'),
    answers: fc.array(
      fc.record({
        title: fc.constantFrom('A', 'B', '\\"1', null),
        body: fc.constantFrom('x', 'y'),
        isPreview: fc.boolean(),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  })
  .chain(({ kind, answers }) => {
    const inOrder = answers.map((_, index) => index);
    const order = fc.oneof(fc.constant(inOrder), fc.shuffledSubarray(inOrder, { minLength: inOrder.length }));
    return order.map((it) => ({ kind, answers, order: it }));
  });

function batchFor(at: number, { kind }: Sequence, { title, body, isPreview }: Said): Batch {
  const urn = { type: 'fsd_profile', value: `p${at}` };
  switch (kind) {
    case 'page':
      return batchOf('webparser.parse', { url: `https://pages.example/${at}` }, [
        { cleaned_html: body, url: 'u', title },
      ]);
    case 'microblogger':
      return batchOf('microblog.user', { user: `u${at}` }, [
        { rest_id: `m${at}`, name: title, verified: body === 'x' },
      ]);
    case 'person':
      return isPreview
        ? batchOf('pronet.post.reposts', { urn: { type: 'activity', value: '1' }, count: 9 }, [
            { urn: { type: 'activity', value: `a${at}` }, author: { urn, name: title, headline: body } },
          ])
        : batchOf('pronet.search.users', { title: `${at}`, count: 9 }, [{ urn, name: title, headline: body }]);
  }
}

/** Far enough apart that each answer of each sequence has an instant of its own. */
const idOf = (at: number, index: number): number => (index + 1) * 5_000 + at;

/** Loads the answers of all sequences: the first of each together, then the second of each. */
async function takeAll(warehouse: Warehouse, sequences: readonly Sequence[]): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1)
    await warehouse.db.transaction().execute((tx) =>
      load(
        sqlExecutorOn(tx),
        warehouse.schema,
        sequences.flatMap((it, at) => {
          const index = it.order[turn];
          const said = index === undefined ? undefined : it.answers[index];
          if (index === undefined || !said) return [];
          return [{ batch: batchFor(at, it, said), context: contextOf(idOf(at, index)) }];
        }),
      ),
    );
}

const logged = rootTables.flatMap((table) => (table.changes ? [{ table, log: table.changes }] : []));

/** What is wrong with the versions of any table. */
async function offences(warehouse: Warehouse): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { table, log } of logged) {
    const key = quotedList(table.key);
    const same = log.attributes.filter((name) => !log.digested.includes(name));
    const columns = quotedList([...table.key, ...same]);
    const [row] = await select(
      warehouse,
      `with v as (
        select *, lead(valid_from) over (partition by ${key} order by valid_from) as following,
          row_number() over (partition by ${key} order by valid_from) as place
        from sluice.${table.name}_history
      )
      select
        (select count(*) from v where valid_to is distinct from following or valid_from >= valid_to)::int as gaps,
        (select count(*) from v where is_current <> (valid_to is null))::int as flags,
        (select count(*) from v join sluice.${table.name} t using (${key}) where place = 1 and valid_from <> t._first_seen_at)::int as beginnings,
        (select count(*) from (
          (select ${columns} from v where is_current except all select ${columns} from sluice.${table.name}) union all
          (select ${columns} from sluice.${table.name} except all select ${columns} from v where is_current)) d)::int as differences`,
    );
    for (const [what, count] of Object.entries(row ?? {})) if (count !== 0) found.push(`${table.name}: ${what}`);
  }
  return found;
}

/** The versions that in-order answers make: a new one for each answer that says something else than the one before. */
function versionsOf(at: number, { kind, answers }: Sequence): readonly unknown[] {
  const values = ({ title, body }: Said): unknown =>
    kind === 'page' ? [title, digestOf(body)] : [title, String(body === 'x')];
  const begins = answers.flatMap((it, index) => {
    const before = answers[index - 1];
    const isNew = before === undefined || JSON.stringify(values(before)) !== JSON.stringify(values(it));
    return isNew ? [{ at: receivedAt(idOf(at, index)), values: values(it) }] : [];
  });
  return begins.map(({ at: from, values: of }, index) => {
    const next = begins[index + 1]?.at;
    return { of, from: new Date(from), to: next === undefined ? null : new Date(next) };
  });
}

async function versionsIn(warehouse: Warehouse, at: number, kind: Kind): Promise<readonly unknown[]> {
  const [table, values, where] =
    kind === 'page'
      ? [
          'web_pages',
          'title, cleaned_html_sha256',
          `page_key = (select page_key from sluice.web_pages where requested_url = 'https://pages.example/${at}')`,
        ]
      : ['microblog_users', 'name, verified::text', `rest_id = 'm${at}'`];
  return select(
    warehouse,
    `select array[${values}] as of, valid_from as from, valid_to as to from sluice.${table}_history where ${where} order by valid_from`,
  );
}

anyWarehouse('the history of entities', (open, kind) => {
  it('has no overlap, no gap and one current version, equal to the row, after many sequences of answers in any order', async () => {
    const warehouse = await open();
    const sequences = fc.sample(sequence, kind === 'embedded' ? 100 : 1000);
    await takeAll(warehouse, sequences);
    expect(await offences(warehouse)).toEqual([]);
    const inOrder = [...sequences.entries()].filter(
      ([, { kind, order }]) => kind !== 'person' && order.every((index, turn) => index === turn) && order.length > 1,
    );
    expect(inOrder.length).toBeGreaterThan(sequences.length / 20);
    const expectVersions = async (): Promise<void> => {
      for (const [at, it] of inOrder.slice(0, countOf(20, 400)))
        expect(await versionsIn(warehouse, at, it.kind), JSON.stringify(it)).toEqual(versionsOf(at, it));
    };
    await expectVersions();

    await takeAll(warehouse, sequences);
    await expectVersions();
    expect(await offences(warehouse)).toEqual([]);
  });
});
