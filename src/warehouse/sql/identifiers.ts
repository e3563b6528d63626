/** Quotes names in SQL and derives the names of indexes, constraints and schemas. */
import { hash } from 'node:crypto';
import { UsageError } from '../../errors.ts';

/** Limit in bytes. Postgres truncates longer names silently. */
const LONGEST_NAME = 63;
const OPERATIONS_SUFFIX = '_ops';

/** The name in quotes. Quoted names may contain any character and keep their case. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Names in quotes, joined by commas. */
export const quotedList = (names: readonly string[], prefix = ''): string =>
  names.map((name) => prefix + quoted(name)).join(', ');

/** The name of a relation with its schema, in quotes. */
export const qualified = (schema: string, relation: string): string => `${quoted(schema)}.${quoted(relation)}`;

/** SQL condition that two rows have equal keys, whose columns may have other names in the second row. */
export const sameKey = (row: string, key: readonly string[], other: string, otherKey = key): string =>
  key.map((name, index) => `${row}.${quoted(name)} = ${other}.${quoted(otherKey[index] ?? '')}`).join(' and ');

/** The text as an SQL literal. Backslashes are safe in it with any setting of the server. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/**
 * A deterministic name for an index or constraint. A long name is truncated and ends in a digest of the complete name.
 */
export function objectName(table: string, columns: readonly string[], suffix: string): string {
  const name = [table, ...columns, suffix].join('_');
  if (Buffer.byteLength(name) <= LONGEST_NAME) return name;
  const digest = hash('sha256', name).slice(0, 8);
  const tail = `_${digest}_${suffix}`;
  return name.slice(0, LONGEST_NAME - tail.length) + tail;
}

/** The name of the operations schema for this schema. Throws a UsageError if either is not a valid name. */
export function operationsSchema(schema: string): string {
  const longest = LONGEST_NAME - OPERATIONS_SUFFIX.length;
  const refuse = (found: string): never => {
    throw new UsageError(`warehouse.schema ${found}`, {
      next: `Choose a name of 1 to ${longest} bytes that does not begin with pg_, such as sluice.`,
    });
  };
  if (schema === '' || schema.includes('\0')) return refuse('is empty or contains a NUL character');
  if (Buffer.byteLength(schema) > longest) return refuse(`is ${Buffer.byteLength(schema)} bytes long`);
  if (/^pg_/i.test(schema) || schema === 'information_schema')
    return refuse(`is ${schema}, which is reserved by Postgres`);
  return schema + OPERATIONS_SUFFIX;
}

/** The name of a table without this schema, for names that people give. */
export const withoutSchema = (name: string, schema: string): string =>
  name.startsWith(`${schema}.`) ? name.slice(schema.length + 1) : name;
