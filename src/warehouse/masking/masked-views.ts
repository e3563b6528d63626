/** Derives the masked views: each analyst table and view without personal data, in a schema of their own. */
import { COMPANY_URN_TYPES } from '../../service/names/urn.ts';
import { tables } from '../schema/tables.ts';
import type { ViewColumn } from '../schema/views/view.ts';
import { views } from '../schema/views/views.ts';
import { literal, qualified, quoted } from '../sql/identifiers.ts';
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
  /** The column with the type of the URN, if the column is the value of one. */
  readonly urnType: string | undefined;
}

interface Source {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly ViewColumn[];
}

/** Returns true if the analyst relation has the column. */
export type HasColumn = (relation: string, column: string) => boolean;

interface MaskedView {
  readonly name: string;
  /** The statements that create or replace the view and its comments. */
  readonly statements: readonly string[];
}

/**
 * The masked views of the columns that exist. Identifiers of people are hashed with the masking key, so that joins work.
 * All other personal data is left out, and so is JSON, because its contents are not declared.
 */
export function maskedViews(names: SchemaNames, exists: HasColumn = () => true): MaskedView[] {
  return [...tables, ...views].flatMap((source) => {
    const columns = maskedColumns(source).filter((it) => exists(source.name, it.name));
    return columns.length === 0 ? [] : [{ name: source.name, statements: statementsFor(names, source, columns) }];
  });
}

/** The names of all masked views, in an order in which they can be dropped. */
export const maskedViewNames = (): string[] => [...tables, ...views].map(({ name }) => name);

/** Whether masked views do not have the column. */
export const isLeftOut = ({ name, type, personal }: Omit<ViewColumn, 'about'>): boolean =>
  type === 'jsonb' || personal === 'content' || DIGESTS.includes(name);

function maskedColumns({ columns }: Source): MaskedColumn[] {
  return columns
    .filter((it) => !isLeftOut(it))
    .map(({ name, about, personal }) => ({
      name,
      about,
      isHashed: personal === 'identifier',
      urnType: columns.find((it) => it.name !== name && it.name === name.replace(/value$/, 'type'))?.name,
    }));
}

function statementsFor({ schema, ops }: SchemaNames, source: Source, columns: readonly MaskedColumn[]): string[] {
  const view = qualified(maskedSchema(schema), source.name);
  const key = columns.some((it) => it.isHashed) ? ` cross join ${qualified(ops, MASKING_KEYS)} k` : '';
  const selected = columns.map((it) => (it.isHashed ? `${hashed(it)} as ${quoted(it.name)}` : `t.${quoted(it.name)}`));
  return [
    `create or replace view ${view} as select ${selected.join(', ')} from ${qualified(schema, source.name)} t${key}`,
    `comment on view ${view} is ${literal(source.about)}`,
    ...columns.map(({ name, about, isHashed, urnType }) => {
      const but = urnType === undefined ? '' : ' URNs of organizations stay.';
      const text = isHashed ? `${about} Replaced by a hash, which is equal for equal values.${but}` : about;
      return `comment on column ${view}.${quoted(name)} is ${literal(text)}`;
    }),
  ];
}

/** URNs of organizations stay, because they are keys of rows that are not hashed; posts refer to people and to these. */
function hashed({ name, urnType }: MaskedColumn): string {
  const value = `t.${quoted(name)}`;
  if (urnType === undefined) return hashOf(value);
  const ofCompany = `t.${quoted(urnType)} in (${COMPANY_URN_TYPES.map(literal).join(', ')})`;
  return `case when ${ofCompany} then ${value} else ${hashOf(value)} end`;
}

/** A keyed hash in hex. Hashing twice prevents extending a known hash. */
const hashOf = (value: string): string =>
  `encode(sha256(k.key || sha256(k.key || convert_to(${value}::text, 'UTF8'))), 'hex')`;
