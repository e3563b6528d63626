/** Derives the masked views: each analyst table and view without personal data, in a schema of their own. */
import type { PersonalData } from '../../service/model.ts';
import { tables } from '../schema/tables.ts';
import { views } from '../schema/views/views.ts';
import { literal, quoted } from '../sql/identifiers.ts';
import type { SchemaNames } from '../connect/connect.ts';

/** The operations table with the key of the hashes. Without its row, views with hashes are empty. */
export const MASKING_KEYS = 'masking_keys';

/** The schema of the masked views. */
export const maskedSchema = (schema: string): string => `${schema}_masked`;

/** Digests of the content allow guessing it. */
const DIGESTS = ['_content_hash', '_part_hashes'];

interface MaskedColumn {
  readonly name: string;
  readonly about: string;
  readonly isHashed: boolean;
}

interface Source {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly about: string;
    readonly personal?: PersonalData | undefined;
  }[];
}

/** Returns true if the analyst relation has the column. */
export type HasColumn = (relation: string, column: string) => boolean;

/**
 * The statements that create the masked views and their comments. Identifiers of people are hashed with the masking key,
 * so that joins work. All other personal data is left out, and so is JSON, because its contents are not declared.
 */
export function maskedViewStatements(names: SchemaNames, exists: HasColumn = () => true): string[] {
  return [...tables, ...views].flatMap((source) => {
    const columns = maskedColumns(source).filter((it) => exists(source.name, it.name));
    return columns.length === 0 ? [] : statementsFor(names, source, columns);
  });
}

/** The names of all masked views, in an order in which they can be dropped. */
export const maskedViewNames = (): string[] => [...tables, ...views].map(({ name }) => name);

function maskedColumns({ columns }: Source): MaskedColumn[] {
  return columns
    .filter(({ name, type, personal }) => type !== 'jsonb' && personal !== 'content' && !DIGESTS.includes(name))
    .map(({ name, about, personal }) => ({ name, about, isHashed: personal === 'identifier' }));
}

function statementsFor({ schema, ops }: SchemaNames, source: Source, columns: readonly MaskedColumn[]): string[] {
  const view = `${quoted(maskedSchema(schema))}.${quoted(source.name)}`;
  const key = columns.some((it) => it.isHashed) ? ` cross join ${quoted(ops)}.${quoted(MASKING_KEYS)} k` : '';
  const selected = columns.map(({ name, isHashed }) =>
    isHashed ? `${hashOf(`t.${quoted(name)}`)} as ${quoted(name)}` : `t.${quoted(name)}`,
  );
  return [
    `create or replace view ${view} as select ${selected.join(', ')} from ${quoted(schema)}.${quoted(source.name)} t${key}`,
    `comment on view ${view} is ${literal(source.about)}`,
    ...columns.map(({ name, about, isHashed }) => {
      const text = isHashed ? `${about} Replaced by a hash, which is equal for equal values.` : about;
      return `comment on column ${view}.${quoted(name)} is ${literal(text)}`;
    }),
  ];
}

/** A keyed hash in hex. Hashing twice prevents extending a known hash. */
const hashOf = (value: string): string =>
  `encode(sha256(k.key || sha256(k.key || convert_to(${value}::text, 'UTF8'))), 'hex')`;
