/** Checks what `promote` is to do: the table, the field and the type, by the declarations and the unknown fields. */
import { insteadOf } from '../../config/document/nearest.ts';
import { UsageError } from '../../errors.ts';
import type { Kind, PersonalData } from '../../service/model.ts';
import { scalarColumns } from '../../warehouse/schema/columns.ts';
import { pathLiteral } from './extra-expression.ts';
import { declaredAt, describesPeople, type FieldTable, fieldTables, personalAround } from './field-place.ts';
import { type FieldType, fieldTypes, TYPE_NAMES } from './field-type.ts';
import { obstacleTo, type UnknownField } from './unknown-fields.ts';

/** What the user asks for, as written. */
export interface PromoteRequest {
  readonly table: string;
  readonly field: string;
  readonly type: string;
  /** How the field concerns a person; undefined decides by the table. */
  readonly personal: string | undefined;
}

/** A field that is declared already, with its columns. */
export interface DeclaredField {
  readonly table: string;
  readonly columns: readonly string[];
  readonly type: string;
}

/** An unknown field, and how to declare it. */
export interface ChosenField {
  readonly unknown: UnknownField;
  readonly type: FieldType;
  readonly personal: PersonalData | undefined;
}

/** Status lists each unknown field with a complete command. */
const NEXT = 'Run sluice status: it shows the command for each unknown field that can be a column.';

/** The table that the request names. Throws a UsageError with the nearest name. */
export function chooseTable(name: string): FieldTable {
  const found = fieldTables.find(({ table }) => table.name === name);
  if (found) return found;
  throw new UsageError(
    `promote: no table with unknown fields is named ${JSON.stringify(name)}${insteadOf(
      name,
      fieldTables.map(({ table }) => table.name),
    )}`,
    { next: NEXT },
  );
}

/** The type that the request names. Throws a UsageError with the nearest name. */
export function chooseType(name: string): FieldType {
  const found = fieldTypes.get(name.toLowerCase());
  if (found) return found;
  throw new UsageError(`promote: no type is named ${JSON.stringify(name)}${insteadOf(name, TYPE_NAMES)}`, {
    next: NEXT,
  });
}

/**
 * The field if it is declared with this type; undefined if it is not declared. Throws a UsageError if it is declared with
 * another type, or if it is inside a value that has one column.
 */
export function declaredField({ table, fields }: FieldTable, name: string, type: FieldType): DeclaredField | undefined {
  const found = declaredAt(fields, name.split('.'));
  if (!found) return undefined;
  const { field, isEnd } = found;
  const path = found.path.join('.');
  const column = found.path.join('_');
  if (!isEnd)
    throw new UsageError(
      field.shape === 'scalar' && field.kind === 'json'
        ? `promote: ${path} is declared as free JSON, in the column ${table.name}.${column}, so its contents are no unknown fields`
        : `promote: ${path} of ${table.name} is declared as ${SHAPES[field.shape]}, so ${name} cannot be one of its columns`,
      {
        next:
          field.shape === 'scalar' && field.kind === 'json'
            ? `Query it: ${table.name}.${column} #>> ${pathLiteral(name.split('.').slice(found.path.length))}.`
            : 'Name a field of the table itself, or one in a flattened object, such as company.size. Elements of a list have a table of their own.',
      },
    );
  if (field.shape !== 'scalar' && field.shape !== 'given')
    throw new UsageError(`promote: ${path} of ${table.name} is already declared, as ${SHAPES[field.shape]}`, {
      next: `Run sluice tables ${table.name} for its columns, or name a field inside it.`,
    });
  const columns = scalarColumns(column, field.kind, '', {}).map((it) => it.name);
  const declared = { table: table.name, columns, type: typeName(field.kind) };
  if (field.kind !== type.kind)
    throw new UsageError(
      `promote: ${table.name}.${column} is already declared, as ${declared.type} and not as ${type.sql}`,
      {
        next: 'A declared type does not change here: change the declaration and write a migration, or query the column with a cast.',
      },
    );
  return declared;
}

const SHAPES = {
  scalar: 'one value',
  given: 'a value of the request',
  object: 'an object',
  list: 'a list',
  nested: 'another entity',
  'nested-list': 'a list of other entities',
} as const;

const typeName = (kind: Kind): string => [...fieldTypes.values()].find((it) => it.kind === kind)?.sql ?? kind;

/** The unknown field that the request names. Throws a UsageError if answers do not contain it, or if it cannot be a column. */
export function chooseField(
  at: FieldTable,
  { field, personal }: PromoteRequest,
  type: FieldType,
  unknown: readonly UnknownField[],
): ChosenField {
  const known = unknown.filter((it) => it.at.table === at.table);
  const found = known.find((it) => it.field === field) ?? known.find((it) => it.column === field);
  const { name } = at.table;
  if (!found) {
    const names = known.filter((it) => obstacleTo(it) === undefined).map((it) => it.field);
    const alternatives = names.length === 0 ? ', and none had any other that can be a column' : insteadOf(field, names);
    throw new UsageError(
      `promote: no answer had an unknown field ${JSON.stringify(field)} for ${name}${alternatives}`,
      { next: 'Run sluice status for the fields that differ from the contract.' },
    );
  }
  const obstacle = obstacleTo(found);
  if (obstacle !== undefined)
    throw new UsageError(`promote: ${found.field} of ${name} cannot be a column: ${obstacle}`, {
      next: `Query it: ${name}.extra #>> ${pathLiteral(found.path)}.`,
    });
  return { unknown: found, type, personal: personalOf(found, personal) };
}

const CHOICES = ['content', 'identifier', 'none'];

/** How the field concerns a person. Without a choice it is personal in a table about people, so that no view leaks it. */
function personalOf({ at, field, path }: UnknownField, choice: string | undefined): PersonalData | undefined {
  if (choice === undefined) return describesPeople(at.table) ? 'content' : undefined;
  if (choice !== 'none') {
    if (choice === 'content' || choice === 'identifier') return choice;
    throw new UsageError(`promote: --personal ${JSON.stringify(choice)}${insteadOf(choice, CHOICES)}`);
  }
  if (personalAround(at.fields, path) !== undefined)
    throw new UsageError(`promote: the object around ${field} is declared as personal data, so ${field} is too`, {
      next: 'Leave out --personal none.',
    });
  return undefined;
}
