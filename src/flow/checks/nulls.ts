/** Reads the share of null in a column, and checks the names of columns before a run. */
import { sql } from 'kysely';
import { nearest } from '../../config/document/nearest.ts';
import type { CheckDefinition, CheckRule } from '../../config/checks.ts';
import type { SyncDefinition } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { ChildTable, Table } from '../../warehouse/schema/table-types.ts';
import { tableNamed, tables } from '../../warehouse/schema/tables.ts';

type NullsRule = Pick<Extract<CheckRule, { kind: 'nulls' }>, 'table' | 'column'>;

/**
 * Counts the rows whose last answer belongs to the sync, and those of them with null. An element of a list belongs to the
 * answer of its parent. A row that a run confirmed keeps its answer, so it counts too.
 */
export async function readNulls(
  { db, schema, ops }: Pick<Warehouse, 'db' | 'schema' | 'ops'>,
  sync: string,
  rule: NullsRule,
): Promise<{ readonly rows: number; readonly nulls: number }> {
  const problem = problemOf(rule);
  if (problem !== undefined) throw new UsageError(problem);
  const table = tableNamed(rule.table);
  const parent = table && isChild(table) ? table.foreignKeys[0] : undefined;
  const join = parent
    ? sql`join ${sql.id(schema, parent.table)} p on ${sql.join(
        parent.columns.map(
          (name, index) => sql`${sql.ref(`t.${name}`)} = ${sql.ref(`p.${parent.references[index] ?? ''}`)}`,
        ),
        sql` and `,
      )}`
    : sql``;
  const { rows } = await sql<{ rows: number; filled: number }>`
    select count(*)::float8 as rows, count(${sql.ref(`t.${rule.column}`)})::float8 as filled
    from ${sql.id(schema, rule.table)} t ${join}
    join ${sql.id(ops, 'answers')} a on a.id = ${sql.ref(parent ? 'p._answer_id' : 't._answer_id')}
    where a.sync = ${sync}`.execute(db);
  const { rows: all, filled } = rows[0] ?? { rows: 0, filled: 0 };
  return { rows: all, nulls: all - filled };
}

const isChild = (table: Table): table is ChildTable => table.kind === 'child';

/** The problem with the name of the column; undefined if the warehouse declares it. */
function problemOf({ table: name, column }: NullsRule): string | undefined {
  const table = tableNamed(name);
  if (!table) return `no table is named ${name}${suggestion(name, tables)}`;
  if (table.columns.some((it) => it.name === column)) return undefined;
  return `the table ${name} has no column ${column}${suggestion(column, table.columns)}`;
}

function suggestion(name: string, known: readonly { readonly name: string }[]): string {
  const meant = nearest(
    name,
    known.map((it) => it.name),
  );
  return meant === undefined ? '; sluice tables lists all' : `; did you mean ${meant}?`;
}

/** Throws a UsageError that lists the checks whose column does not exist. */
export function assertCheckColumns(syncs: readonly Pick<SyncDefinition, 'name' | 'checks'>[]): void {
  const problems = syncs.flatMap(({ name, checks = [] }) =>
    checks.flatMap(({ rule, where }: CheckDefinition) => {
      const problem = rule.kind === 'nulls' ? problemOf(rule) : undefined;
      return problem === undefined ? [] : [`${where}: ${name}: ${problem}`];
    }),
  );
  if (problems.length > 0)
    throw new UsageError([...new Set(problems)].join('\n'), {
      next: 'Correct nulls.column of these checks; nothing was sent.',
    });
}
