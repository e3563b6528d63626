/** The views of history over random answers: no overlap, no gap, one current version, and the versions of a model. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { LoadItem } from '../../src/load/merge/receipt-builder.ts';
import type { Batch } from '../../src/normalize/batch.ts';
import { digestOf } from '../../src/service/canonical-json.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { quotedList } from '../../src/warehouse/sql/identifiers.ts';
import { rootTables, tables } from '../../src/warehouse/schema/tables.ts';
import { select } from '../flow/rows.ts';
import { batchOf, contextOf, receivedAt } from '../support/loading.ts';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';

/** What an answer says of its entity: texts, a list, whether it is as long as requested, and whether it is a preview. */
interface Said {
  readonly title: string | null;
  readonly body: string;
  readonly list: readonly string[] | null;
  readonly isFull: boolean;
  readonly isPreview: boolean;
}
const KINDS = ['page', 'microblogger', 'person', 'educated', 'group'] as const;
type Kind = (typeof KINDS)[number];
interface Sequence {
  readonly kind: Kind;
  readonly answers: readonly Said[];
  /** The indexes of the answers in the order in which they are loaded. */
  readonly order: readonly number[];
}

const said: fc.Arbitrary<Said> = fc.record({
  title: fc.constantFrom('A', 'B', '\\"1', null),
  body: fc.constantFrom('x', 'y'),
  list: fc.option(fc.uniqueArray(fc.constantFrom('p', 'q', 'r', 's'), { maxLength: 3 }), { freq: 5 }),
  isFull: fc.boolean(),
  isPreview: fc.boolean(),
});

const sequence: fc.Arbitrary<Sequence> = fc
  .record({ kind: fc.constantFrom(...KINDS), answers: fc.array(said, { minLength: 1, maxLength: 6 }) })
  .chain(({ kind, answers }) => {
    const inOrder = answers.map((_, index) => index);
    return fc
      .shuffledSubarray(inOrder, { minLength: inOrder.length })
      .map((order): Sequence => ({ kind, answers, order }));
  });

function batchFor(at: number, kind: Kind, { title, body, list, isFull, isPreview }: Said): Batch {
  const urn = { type: 'fsd_profile', value: `p${at}` };
  switch (kind) {
    case 'page':
      return batchOf('webparser.parse', { url: `https://pages.example/${at}` }, [
        { cleaned_html: body, url: 'u', title, metadata: { title, of: [body] } },
      ]);
    case 'microblogger':
      return batchOf('microblog.user', { user: `u${at}` }, [
        { rest_id: `m${at}`, name: title, verified: body === 'x', created_at: body === 'x' ? 1_700_000_000 : null },
      ]);
    case 'person':
      return isPreview
        ? batchOf('pronet.post.reposts', { urn: { type: 'activity', value: '1' }, count: 9 }, [
            { urn: { type: 'activity', value: `a${at}` }, author: { urn, name: title, headline: body } },
          ])
        : batchOf('pronet.search.users', { title: `${at}`, count: 9 }, [{ urn, name: title, headline: body }]);
    case 'educated':
      return batchOf(
        'pronet.user.education',
        { urn, count: isFull ? Math.max(1, list?.length ?? 0) : 9 },
        (list ?? []).map((major) => ({ company: { name: body }, major })),
      );
    case 'group':
      return batchOf('pronet.group', { group: `${at}` }, [
        {
          urn: { type: 'group', value: `g${at}` },
          name: title,
          members: list?.map((user) => ({
            user: { urn: { type: 'fsd_profile', value: user }, name: 'n' },
            role: body,
            joined_at: title === null ? null : 1_700_000_000,
          })),
        },
      ]);
  }
}

/** Far enough apart that each answer of each sequence has an instant of its own. */
const idOf = (at: number, index: number): number => (index + 1) * 5_000 + at;
const timeOf = (at: number, index: number): Date => new Date(receivedAt(idOf(at, index)));

type Loads = readonly (readonly LoadItem[])[];

/** The loads of all sequences: the answers in the order of each at the same turn, one answer of each sequence. */
function inTurns(sequences: readonly Sequence[], orderOf: (it: Sequence) => readonly number[]): Loads {
  return [0, 1, 2, 3, 4, 5].map((turn) =>
    sequences.flatMap((it, at) => {
      const index = orderOf(it)[turn];
      const answer = index === undefined ? undefined : it.answers[index];
      if (index === undefined || !answer) return [];
      return [{ batch: batchFor(at, it.kind, answer), context: contextOf(idOf(at, index)) }];
    }),
  );
}

const inOrder = ({ answers }: Sequence): readonly number[] => answers.map((_, index) => index);

/** Half of the answers that share no set of rows are loaded together, in their order, and the rest in turns. */
function partlyTogether(loads: Loads): Loads {
  const joins = ({ batch: { owner, bridge }, context }: LoadItem): boolean =>
    !owner && !bridge && Number(context.answerId) % 2 === 0;
  return [loads.flatMap((it) => it.filter(joins)), ...loads.map((it) => it.filter((one) => !joins(one)))];
}

async function take(warehouse: Warehouse, loads: Loads): Promise<void> {
  for (const items of loads)
    await warehouse.db.transaction().execute((tx) => load(sqlExecutorOn(tx, warehouse.schema), items));
}

const logged = rootTables.flatMap((root) =>
  [root, ...root.children].flatMap((table) => {
    if (!table.changes) return [];
    const isRemovable = table !== root || root.resource.owner !== undefined;
    return [{ table, log: table.changes, isRemovable }];
  }),
);

/** What is wrong with the versions of any table. */
async function offences(warehouse: Warehouse): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { table, log, isRemovable } of logged) {
    const key = quotedList(table.key);
    const isShown = (name: string): boolean => !name.startsWith('_') && !log.digested.includes(name);
    const columns = quotedList(table.columns.filter((it) => isShown(it.name) && !it.volatile).map(({ name }) => name));
    const begins = isRemovable ? 'false' : 'place = 1 and valid_from <> t._first_seen_at';
    const [row] = await select(
      warehouse,
      `with v as (
        select *, lead(valid_from) over (partition by ${key} order by valid_from) as following,
          row_number() over (partition by ${key} order by valid_from) as place
        from sluice.${table.name}_history
      )
      select
        (select count(*) from v where valid_to > following or valid_from >= valid_to)::int as overlaps,
        (select count(*) from v where ${isRemovable ? 'following is not null and valid_to is null' : 'valid_to is distinct from following'})::int as gaps,
        (select count(*) from v where is_current <> (valid_to is null))::int as flags,
        (select count(*) from v join sluice.${table.name} t using (${key}) where ${begins})::int as beginnings,
        (select count(*) from (
          (select ${columns} from v where is_current except all select ${columns} from sluice.${table.name}) union all
          (select ${columns} from sluice.${table.name} except all select ${columns} from v where is_current)) d)::int as differences`,
    );
    for (const [what, count] of Object.entries(row ?? {})) if (count !== 0) found.push(`${table.name}: ${what}`);
  }
  return found;
}

/** What there is after each answer, by key: of a page its values, of a group its members with theirs. */
function statesOf(kind: Kind, answers: readonly Said[]): ReadonlyMap<string, readonly unknown[]>[] {
  let known: ReadonlyMap<string, readonly unknown[]> = new Map();
  return answers.map(({ title, body, list, isFull }) => {
    const joined = title === null ? null : '2023-11-14';
    switch (kind) {
      case 'page':
        known = new Map([['', [title, digestOf(body), body]]]);
        break;
      case 'microblogger':
        known = new Map([['', [title, String(body === 'x'), body === 'x' ? '2023-11-14' : null]]]);
        break;
      case 'educated': {
        const listed = (list ?? []).map((major, position) => [String(position), [major, body, null]] as const);
        known = new Map(isFull && listed.length > 0 ? [...known, ...listed] : listed);
        break;
      }
      case 'group':
        if (list) known = new Map(list.map((user) => [user, [body, joined, 'n']]));
        break;
      case 'person':
        break;
    }
    return known;
  });
}

/** The versions that answers in order make: one begins with each answer that shows a new key or other values. */
function versionsOf(at: number, { kind, answers }: Sequence): readonly string[] {
  const open = new Map<string, { of: string; from: Date }>();
  const versions: string[] = [];
  for (const [index, state] of statesOf(kind, answers).entries()) {
    const time = timeOf(at, index);
    for (const [key, { of, from }] of open) {
      if (JSON.stringify(state.get(key)) === of) continue;
      versions.push(line(`${kind} ${at}`, key, of, from, time));
      open.delete(key);
    }
    for (const [key, values] of state) if (!open.has(key)) open.set(key, { of: JSON.stringify(values), from: time });
  }
  for (const [key, { of, from }] of open) versions.push(line(`${kind} ${at}`, key, of, from, null));
  return versions;
}

const line = (entity: string, key: string, of: string, from: Date, to: Date | null): string =>
  [entity, key, of, from.toISOString(), to?.toISOString() ?? 'now'].join(' | ');

const HISTORIES: Readonly<Record<Exclude<Kind, 'person'>, string>> = {
  page: `substr(requested_url, 23) as at, '' as key, array[title, cleaned_html_sha256, metadata -> 'of' ->> 0] as of, valid_from, valid_to from sluice.web_pages_history`,
  microblogger: `substr(rest_id, 2), '', array[name, verified::text, created_at::date::text], valid_from, valid_to from sluice.microblog_users_history`,
  educated: `substr(user_urn_value, 2), position::text, array[major, company_name, extra::text], valid_from, valid_to from sluice.pronet_user_educations_history`,
  group: `substr(group_urn_value, 2), user_urn_value, array[role, joined_at::date::text, user_name], valid_from, valid_to from sluice.pronet_group_members_history`,
};

async function versionsIn(warehouse: Warehouse): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [kind, history] of Object.entries(HISTORIES)) {
    const rows = await select<{ at: string; key: string; of: unknown[]; from: Date; to: Date | null }>(
      warehouse,
      `select v.at, v.key, v.of, v.from, v.to from (select ${history}) as v (at, key, of, "from", "to")`,
    );
    found.push(...rows.map(({ at, key, of, from, to }) => line(`${kind} ${at}`, key, JSON.stringify(of), from, to)));
  }
  return found.toSorted();
}

anyWarehouse('the history of entities', (open, warehouseKind) => {
  it('has no overlap, no gap and one current version, equal to the row, and the versions of a model', async () => {
    const warehouse = await open();
    const sequences = fc.sample(sequence, warehouseKind === 'embedded' ? 30 : countOf(400, 1000));
    const model = sequences.flatMap((it, at) => versionsOf(at, it)).toSorted();
    const replay = inTurns(sequences, inOrder);

    await take(
      warehouse,
      inTurns(sequences, ({ order }) => order),
    );
    expect(await offences(warehouse)).toEqual([]);
    await take(warehouse, replay);
    expect(await offences(warehouse)).toEqual([]);

    await select(warehouse, `truncate ${tables.map(({ name }) => `sluice.${name}`).join(', ')}`);
    for (const inOneOrder of [partlyTogether(replay), replay]) {
      await take(warehouse, inOneOrder);
      expect(await versionsIn(warehouse)).toEqual(model);
      expect(await offences(warehouse)).toEqual([]);
    }
  });
});
