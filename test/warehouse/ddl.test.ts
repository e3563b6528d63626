import { describe, expect, it } from 'vitest';
import {
  createTable,
  createTables,
  type DdlTable,
  foreignKeysOf,
  indexesOf,
  keyOf,
  uniquesOf,
} from '../../src/warehouse/schema/ddl.ts';
import { literal, objectName, quoted } from '../../src/warehouse/sql/identifiers.ts';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';

const EXAMPLE: DdlTable = {
  name: 'things',
  about: 'Things.',
  columns: [
    { name: 'id', type: 'bigint', nullable: false, about: 'It.', identity: true },
    { name: 'owner', type: 'text', nullable: true, about: 'Whose.' },
    { name: 'body', type: 'bytea', nullable: false, about: 'What.', storage: 'external' },
    { name: 'tries', type: 'bigint', nullable: false, about: 'How often.', default: '0' },
  ],
  key: ['id'],
  unique: [['owner', 'tries']],
  foreignKeys: [
    { columns: ['owner'], table: 'people', references: ['name'], onDelete: 'set null' },
    { columns: ['tries'], table: 'counts', references: ['n'], onDelete: 'no action' },
  ],
  indexes: [
    { columns: ['body'], using: 'hash' },
    { columns: ['id'], where: 'tries = 0', named: 'fresh', unique: true },
  ],
};

describe('DDL', () => {
  it('creates a table with its keys, and an index for the foreign key that none leads', () => {
    expect(createTable(EXAMPLE)).toEqual([
      `create table "things" (
  "id" bigint generated always as identity not null,
  "owner" text,
  "body" bytea not null,
  "tries" bigint default 0 not null,
  constraint "things_pkey" primary key ("id"),
  constraint "things_owner_tries_key" unique ("owner", "tries"),
  constraint "things_owner_fkey" foreign key ("owner") references "people" ("name") on delete set null,
  constraint "things_tries_fkey" foreign key ("tries") references "counts" ("n")
)`,
      'alter table "things" alter column "body" set storage external',
      'create index "things_body_idx" on "things" using hash ("body")',
      'create unique index "things_fresh_idx" on "things" ("id") where tries = 0',
      'create index "things_tries_idx" on "things" ("tries")',
    ]);
  });

  it('gives everything in a schema a name of its own that Postgres does not cut', () => {
    for (const area of [tables, operationsTables] as readonly (readonly DdlTable[])[]) {
      const relations = area.flatMap((it) => [
        it.name,
        keyOf(it).name,
        ...uniquesOf(it).map(({ name }) => name),
        ...indexesOf(it).map(({ name }) => name),
      ]);
      expect(relations.toSorted()).toEqual([...new Set(relations)].toSorted());
      const names = [
        ...relations,
        ...area.flatMap((it) => [...foreignKeysOf(it).map(({ name }) => name), ...it.columns.map(({ name }) => name)]),
      ];
      expect(names.filter((it) => Buffer.byteLength(it) > 63)).toEqual([]);
      for (const it of area) expect(new Set(it.columns.map(({ name }) => name)).size).toBe(it.columns.length);
    }
  });

  it('says something about every table and column', () => {
    const comments = ([...tables, ...operationsTables] as readonly DdlTable[]).flatMap((it) => [
      it.about,
      ...it.columns.map(({ about }) => about),
    ]);
    expect(comments.filter((it) => !/^[A-Z].+\.$/s.test(it))).toEqual([]);
  });

  it('has an index that leads every foreign key', () => {
    for (const it of [...tables, ...operationsTables] as readonly DdlTable[]) {
      const leading = [
        it.key,
        ...(it.unique ?? []),
        ...indexesOf(it).map(({ index }) => (index.where === undefined ? index.columns : [])),
      ];
      for (const { columns } of it.foreignKeys) {
        expect(leading.some((index) => columns.every((name, place) => index[place] === name))).toBe(true);
      }
    }
  });

  it('refers only to tables that are created before', () => {
    const seen = new Set<string>();
    for (const { name, foreignKeys } of tables) {
      seen.add(name);
      expect(foreignKeys.filter(({ table }) => !seen.has(table))).toEqual([]);
    }
    expect(createTables(tables).length).toBeGreaterThan(tables.length);
  });
});

describe('names', () => {
  it('are quoted, and long ones cut without two becoming one', () => {
    expect(quoted('a"b')).toBe('"a""b"');
    const long = 'c'.repeat(40);
    const first = objectName('table', [long, 'first'], 'idx');
    const second = objectName('table', [long, 'secon', 'd'.repeat(9)], 'idx');
    expect(objectName('table', ['a', 'b'], 'fkey')).toBe('table_a_b_fkey');
    expect(objectName('t', ['x'.repeat(57)], 'idx')).toHaveLength(63);
    expect(objectName('t', ['x'.repeat(58)], 'idx')).toMatch(/^t_x+_[0-9a-f]{8}_idx$/);
    expect([first.length, second.length].every((it) => it <= 63)).toBe(true);
    expect(objectName('t', ['x'.repeat(58)], 'idx')).not.toBe(objectName('t', [`${'x'.repeat(57)}y`], 'idx'));
  });

  it('and texts in SQL are exact', () => {
    expect(literal(`it's`)).toBe(`'it''s'`);
    expect(literal(`a\\'b`)).toBe(`E'a\\\\''b'`);
  });
});
