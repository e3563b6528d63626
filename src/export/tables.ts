/** Finds the tables and views to export. */
import { nearest } from '../config/document/nearest.ts';
import { UsageError } from '../errors.ts';
import { maskedSchema } from '../warehouse/masking/masked-views.ts';
import { quoted, withoutSchema } from '../warehouse/sql/identifiers.ts';
import type { RunText } from '../warehouse/sql/read-only-session.ts';

export interface TableChoice {
  /** The schema for analysts. */
  readonly schema: string;
  /** Names of tables and views, with or without the schema. Without names, every table is chosen. */
  readonly names: readonly string[];
  /** True for the masked views of these tables and views. */
  readonly isMasked: boolean;
}

export interface ChosenTable {
  readonly name: string;
  /** Reads all its rows. */
  readonly statement: string;
}

/**
 * The chosen tables and views, in the order of their names. Throws a UsageError with the nearest name if one does not exist,
 * and if there is none.
 */
export async function chosenTables(
  run: RunText,
  { schema, names, isMasked }: TableChoice,
): Promise<readonly ChosenTable[]> {
  const source = isMasked ? maskedSchema(schema) : schema;
  const { rows } = await run(RELATIONS, [schema, source]);
  const found = new Map(rows.map(([name, isTable]) => [name ?? '', isTable === 'true']));
  if (found.size === 0)
    throw new UsageError(`export: the schema ${source} has no tables.`, {
      next: isMasked
        ? 'Masked views are for warehouses on a server; sluice grants --without-personal --apply creates them.'
        : 'Run sluice sync first.',
    });
  const given = new Set(names.map((name) => withoutSchema(name, schema)));
  const chosen = names.length === 0 ? [...found.keys()].filter((name) => found.get(name)) : [...given];
  const unknown = chosen.find((name) => !found.has(name));
  if (unknown !== undefined) throw unknownTable(unknown, [...found.keys()]);
  return chosen.toSorted().map((name) => ({ name, statement: `select * from ${quoted(source)}.${quoted(name)}` }));
}

/** The relations for analysts that the second schema has too, and which of them are tables. */
const RELATIONS = `
  select c.relname::text, (c.relkind in ('r', 'p'))::text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
    and exists (select from pg_class o join pg_namespace m on m.oid = o.relnamespace
      where m.nspname = $2 and o.relname = c.relname and o.relkind in ('r', 'p', 'f', 'v', 'm'))
  order by 1`;

function unknownTable(name: string, names: readonly string[]): UsageError {
  const meant = nearest(name, names);
  return new UsageError(`export: there is no table or view ${name}.`, {
    next: meant === undefined ? 'sluice tables lists the tables and views.' : `Did you mean ${meant}?`,
  });
}
