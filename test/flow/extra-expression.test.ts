/** The SQL that reads a field from `extra` has the value that a column would have, and never fails. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { extraExpression, pathLiteral } from '../../src/flow/promote/extra-expression.ts';
import { type FieldType, fieldTypes } from '../../src/flow/promote/field-type.ts';
import { coerceCell, coerceEpoch } from '../../src/normalize/coerce.ts';
import { parseExact } from '../../src/service/exact-json.ts';
import { arrayLiteral } from '../../src/warehouse/sql/array-literal.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const VALUES = [
  '1',
  '-7',
  '9007199254740993',
  '1234567890123456789',
  '9223372036854775807',
  '9223372036854775808',
  '1.5',
  '1e300',
  '1e400',
  '1e-400',
  '12345678901234567890',
  'true',
  'null',
  '[]',
  '{"a":1}',
  '"x"',
  '""',
  '"12"',
  '"2024-02-29"',
  '"2023-02-29"',
  '"2024-02-30"',
  '"2024-13-01"',
  '"0000-01-01"',
  '"2024-01-01 or so"',
  '"2024-01-01T10:00:00Z"',
  '"2024-01-01T10:00:00"',
  '"2024-01-01 10:00:00.5+02:00"',
  '"2024-01-01T25:00:00Z"',
  '"2024-02-30T10:00:00Z"',
  '"00000000-0000-4000-8000-000000000001"',
  '"00000000-0000"',
];

const TYPES = [...new Set(fieldTypes.values())];

/** The value of a column as text, as the server prints it. */
function columnOf({ kind }: FieldType, value: unknown): string | null {
  if (value === null) return null;
  const cell = kind === 'epoch' ? coerceEpoch(value)?.sent.cell : coerceCell(kind, value)?.cell;
  return cell === undefined || cell === null ? null : String(cell);
}

/** Where a query may differ: it shows every value as text, takes no text for a number, and rounds like the type. */
function differs({ kind }: FieldType, text: string): boolean {
  if (kind === 'text') return !text.startsWith('"');
  return text === '"12"' || (kind === 'number' && JSON.isRawJSON(parseExact(text)));
}

anyWarehouse('the SQL that reads a field from extra', (open) => {
  it('has the value that a column would have, or null, whatever was sent', async () => {
    const { db } = await open();
    for (const type of TYPES) {
      const expression = sql.raw(extraExpression(['f'], type));
      const [name, printed] =
        type.kind === 'moment'
          ? ['timestamptz', sql`to_char(v at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`]
          : [type.kind === 'epoch' ? 'bigint' : type.sql, sql`v::text`];
      const texts = VALUES.filter((text) => !differs(type, text));
      const columns = texts.map((text) => columnOf(type, parseExact(text)));
      const { rows } = await sql`
        select text, ${printed} as shown, c as column
        from (
          select text, c, ${expression} as v
          from (
            select text, c, jsonb_build_object('f', text::jsonb) as extra
            from unnest(${arrayLiteral(texts)}::text[], ${arrayLiteral(columns)}::text[]) as u (text, c)
          ) e
        ) r where v is distinct from c::${sql.raw(name)}`.execute(db);
      expect({ type: type.sql, differ: rows }).toEqual({ type: type.sql, differ: [] });
    }
  });

  it('names fields with any characters', async () => {
    const { db } = await open();
    for (const name of ['size', "it's", 'quo"te', '', 'a,b', '{x}', 'back\\slash', 'null', 'with space', 'é']) {
      const { rows } = await sql<{ v: string }>`
        select extra #>> ${sql.raw(pathLiteral(['o', name]))} as v
        from (select jsonb_build_object('o', jsonb_build_object(${name}::text, 'found')) as extra) e`.execute(db);
      expect({ name, ...rows[0] }).toEqual({ name, v: 'found' });
    }
    expect(pathLiteral(['company', 'size'])).toBe("'{company,size}'");
  });
});
