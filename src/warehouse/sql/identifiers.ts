/** Names in SQL: quoting them, and making the ones that Postgres would otherwise choose. */
import { createHash } from 'node:crypto';
import { UsageError } from '../../errors.ts';

/** Postgres cuts longer names silently, in bytes. */
const LONGEST_NAME = 63;
const OPERATIONS_SUFFIX = '_ops';

/** The name in quotes, so that any name works and none is folded to lower case. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Names in quotes, joined by commas. */
export const quotedList = (names: readonly string[]): string => names.map(quoted).join(', ');

/** The text as an SQL literal; dollars and backslashes are safe in it, whatever the server's settings. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** A name for an index or constraint, the same on every machine; a long one is cut and ends in a digest of the whole. */
export function objectName(table: string, columns: readonly string[], suffix: string): string {
  const name = [table, ...columns, suffix].join('_');
  if (Buffer.byteLength(name) <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const tail = `_${digest}_${suffix}`;
  return name.slice(0, LONGEST_NAME - tail.length) + tail;
}

/** The name of the schema that holds the machinery of this one. Throws a UsageError when either can't be a schema. */
export function operationsSchema(schema: string): string {
  const longest = LONGEST_NAME - OPERATIONS_SUFFIX.length;
  const refuse = (found: string): never => {
    throw new UsageError(`warehouse.schema ${found}`, {
      next: `Choose a name of 1 to ${longest} bytes that does not begin with pg_, such as sluice.`,
    });
  };
  if (schema === '' || schema.includes('\0')) return refuse('is empty or holds a NUL character');
  if (Buffer.byteLength(schema) > longest) return refuse(`is ${Buffer.byteLength(schema)} bytes long`);
  if (/^pg_/i.test(schema) || schema === 'information_schema') return refuse(`is ${schema}, which belongs to Postgres`);
  return schema + OPERATIONS_SUFFIX;
}
