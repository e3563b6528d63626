/**
 * Triggers that record the days of changed rows, so that the stored sums of these days no longer count. They run in the
 * transaction of the change, also if a user makes it. Days after the day before yesterday have no stored sums, so a change of
 * recent rows, which is what a sync does, causes no trigger to run. Decision 23 has the rules.
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import type { Warehouse } from '../connect/connect.ts';
import { dayOf } from '../schema/closed-days/periods.ts';
import { rootTables } from '../schema/tables.ts';
import { STARTED } from '../schema/views/logged-requests.ts';
import { quoted, quotedList } from '../sql/identifiers.ts';
import { relationExists } from '../sql/relation-exists.ts';
import type { SchemaFinding } from './finding.ts';

type Names = Pick<Warehouse, 'schema' | 'ops'>;

/** Rows that are certainly too young for stored sums cause no call of a function. The function compares the day. */
const IS_OLD = (instant: string): string => `${instant} < now() - interval '24 hours'`;
/** The newest day whose changes are recorded. It is a day after the newest that may be stored, for long transactions. */
const NEWEST_RECORDED = `(now() at time zone 'UTC')::date - 2`;

/** SQL for the days with sums that depend on a request: of its rows in the log, its answers, and the request itself. */
const daysOfRequest = (condition: (column: string) => string): string => `
      select ${dayOf(STARTED)} from "request_cost_matches" k join "${LOG_TABLE}" c on c.id = k.log_id where ${condition('k.request_id')}
      union all select ${dayOf('a.received_at')} from "answers" a where ${condition('a.request_id')}
      union all select ${dayOf('q.planned_at')} from "requests" q where ${condition('q.id')}`;
const ofOne = daysOfRequest((column) => `${column} in (old.request_id, new.request_id)`);
const ofChanged = daysOfRequest((column) => `${column} in (select request_id from "touched")`);

/** SQL that records these days once per transaction. A row of an older transaction with the same number is no danger. */
const recorded = (days: string): string => `
    insert into "changed_days" (day)
    select distinct d.day from (${days}
    ) d(day)
    where d.day <= ${NEWEST_RECORDED}
      and not exists (select from "changed_days" m where m.day = d.day and m.xmin = pg_current_xact_id()::xid);`;

/** The body of each function. `changed` is a transition table with the old or the new rows. */
const FUNCTIONS = {
  record_changed_log: `
    with "touched" as (select k.request_id from changed r join "request_cost_matches" k on k.log_id = r.id)
    ${recorded(`
      select ${dayOf(STARTED)} from changed c
      union all select ${dayOf('c._first_seen_at')} from changed c
      union all ${ofChanged}`)}`,
  record_changed_matches: `
    with "touched" as (
      select r.request_id from changed r
      union select k.request_id from changed r join "request_cost_matches" k on k.log_id = r.log_id
    )
    ${recorded(`
      select ${dayOf(STARTED)} from changed r join "${LOG_TABLE}" c on c.id = r.log_id
      union all ${ofChanged}`)}`,
  record_changed_request: recorded(`
      select ${dayOf('r.at')} from (values (old.planned_at), (new.planned_at)) r(at) where r.at is not null
      union all ${ofOne.replaceAll('old.request_id', 'old.id').replaceAll('new.request_id', 'new.id')}`),
  record_changed_answer: recorded(`
      select ${dayOf('r.at')} from (values (old.received_at), (new.received_at)) r(at) where r.at is not null
      union all ${ofOne}
      union all select ${dayOf('a.received_at')} from "answers" a
        where a.request_key in (old.request_key, new.request_key) and a.received_at >= least(old.received_at, new.received_at)`),
  record_changed_result: recorded(` values (${dayOf('new.received_at')})`),
  record_changed_row: recorded(`
      select ${dayOf('r.at')} from (values (old._first_seen_at), (new._first_seen_at)) r(at) where r.at is not null`),
  record_truncated: recorded(` select day from "closed_days"`),
} as const;

interface Trigger {
  readonly table: string;
  readonly area: keyof Pick<Warehouse, 'schema' | 'ops'>;
  readonly name: string;
  /** What follows `after`, up to the function. */
  readonly when: string;
  readonly calls: keyof typeof FUNCTIONS;
}

type Target = Pick<Trigger, 'table' | 'area'>;

const truncation = (target: Target): Trigger => ({
  ...target,
  name: 'record_truncated',
  when: `truncate on ${target.table} for each statement`,
  calls: 'record_truncated',
});

/** Triggers for a table whose rows change in large statements: one call for each statement. */
const forStatements = (target: Target, calls: keyof typeof FUNCTIONS): Trigger[] => [
  ...(
    [
      ['inserted', 'insert', 'new'],
      ['deleted', 'delete', 'old'],
      ['updated_from', 'update', 'old'],
      ['updated_to', 'update', 'new'],
    ] as const
  ).map(([name, event, rows]) => ({
    ...target,
    name: `record_${name}`,
    when: `${event} on ${target.table} referencing ${rows} table as changed for each statement`,
    calls,
  })),
  truncation(target),
];

/** Triggers for a table with frequent changes of recent rows: one call for each old row. */
function forRows(
  target: Target,
  calls: keyof typeof FUNCTIONS,
  {
    at,
    columns,
    orWhen = 'false',
  }: { readonly at: string; readonly columns: readonly string[]; readonly orWhen?: string },
): Trigger[] {
  const isChanged = `(${columns.map((it) => `old.${it}`).join(', ')}) is distinct from (${columns.map((it) => `new.${it}`).join(', ')})`;
  const row = (name: string, event: string, condition: string): Trigger => ({
    ...target,
    name: `record_${name}`,
    when: `${event} on ${target.table} for each row when (${condition})`,
    calls,
  });
  return [
    row('inserted', 'insert', IS_OLD(`new.${at}`)),
    row('deleted', 'delete', IS_OLD(`old.${at}`)),
    row(
      'updated',
      `update of ${quotedList(columns)}`,
      `(${IS_OLD(`old.${at}`)} or ${IS_OLD(`new.${at}`)} or ${orWhen}) and ${isChanged}`,
    ),
    truncation(target),
  ];
}

const RESULTS = ['received', 'loaded', 'unchanged', 'superseded', 'quarantined', 'loaded_at'];

const TRIGGERS: readonly Trigger[] = [
  ...forStatements({ table: LOG_TABLE, area: 'schema' }, 'record_changed_log'),
  ...forStatements({ table: 'request_cost_matches', area: 'ops' }, 'record_changed_matches'),
  ...forRows({ table: 'requests', area: 'ops' }, 'record_changed_request', {
    at: 'planned_at',
    columns: [
      'id',
      'planned_at',
      'sent_at',
      'attempts',
      'points',
      'charged',
      'answer_id',
      'sync',
      'endpoint',
      'run_id',
    ],
    // A repeated attempt may belong to rows of the log of earlier days, by a wrong clock of the service.
    orWhen: 'new.attempts > 1',
  }),
  ...forRows({ table: 'answers', area: 'ops' }, 'record_changed_answer', {
    at: 'received_at',
    columns: ['id', 'request_id', 'run_id', 'sync', 'endpoint', 'request_key', 'received_at', 'took_ms'],
  }),
  {
    table: 'answers',
    area: 'ops',
    name: 'record_loaded',
    when: `update of ${quotedList(RESULTS)} on answers for each row when (${IS_OLD('old.received_at')}
      and (${RESULTS.map((it) => `old.${it}`).join(', ')}) is distinct from (${RESULTS.map((it) => `new.${it}`).join(', ')}))`,
    calls: 'record_changed_result',
  },
  ...rootTables
    .filter(({ name }) => name !== LOG_TABLE)
    .flatMap(({ name }) =>
      forRows({ table: name, area: 'schema' }, 'record_changed_row', {
        at: '_first_seen_at',
        columns: ['_first_seen_at'],
      }),
    ),
];

/** Creates the functions, and the triggers that do not exist. Removes all if the tables of closed days do not exist. */
export async function applyChangeTriggers(trx: QueryExecutorProvider, names: Names): Promise<void> {
  const functionOf = (name: string): string => `${quoted(names.ops)}.${quoted(name)}`;
  if (!(await relationExists(trx, names.ops, 'changed_days'))) {
    for (const name of Object.keys(FUNCTIONS))
      await sql.raw(`drop function if exists ${functionOf(name)} cascade`).execute(trx);
    return;
  }
  const path = `${quoted(names.schema)}, ${quoted(names.ops)}, pg_temp`;
  await sql.raw(`set local search_path to ${path}`).execute(trx);
  for (const [name, body] of Object.entries(FUNCTIONS)) {
    // With the rights of its owner, since a user who may change a row need not know the operations tables.
    await sql
      .raw(
        `create or replace function ${functionOf(name)}() returns trigger language plpgsql security definer set search_path to ${path} as $function$
      begin${body}
        return null;
      end
      $function$`,
      )
      .execute(trx);
    await sql.raw(`revoke all on function ${functionOf(name)}() from public`).execute(trx);
  }
  const live = await liveTriggers(trx, names);
  for (const it of TRIGGERS)
    if (!live.has(keyOf(it, names)))
      await sql
        .raw(`create or replace trigger ${quoted(it.name)} after ${it.when} execute function ${functionOf(it.calls)}()`)
        .execute(trx);
}

const keyOf = ({ area, table, name }: Pick<Trigger, 'area' | 'table' | 'name'>, names: Names): string =>
  `${names[area]}.${table}.${name}`;

/** The enabled triggers of both schemas, as schema.table.name. */
async function liveTriggers(db: QueryExecutorProvider, { schema, ops }: Names): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ key: string }>`
    select n.nspname || '.' || c.relname || '.' || t.tgname as key
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${schema}, ${ops}) and not t.tgisinternal and t.tgenabled in ('O', 'A')`.execute(db);
  return new Set(rows.map(({ key }) => key));
}

/** The triggers that are missing or disabled, as findings of the drift check. Without one, stored sums may be wrong. */
export async function changeTriggerDrift(db: QueryExecutorProvider, names: Names): Promise<SchemaFinding[]> {
  const live = await liveTriggers(db, names);
  return TRIGGERS.filter((it) => !live.has(keyOf(it, names))).map(({ area, table, name }) => ({
    schema: names[area],
    relation: table,
    part: name,
    kind: 'missing',
    message: `trigger ${name} is missing or disabled, so stored sums of earlier days may lack later changes; enable it or run sluice migrate, and delete the rows of ${names.ops}.closed_days`,
  }));
}
