/** Derives columns from declared fields. */
import type { Field, Fields, Kind, PersonalData, Resource } from '../../service/model.ts';
import type { Column, SqlType } from './table-types.ts';

const SQL: Record<Exclude<Kind, 'epoch'>, SqlType> = {
  text: 'text',
  integer: 'bigint',
  number: 'double precision',
  flag: 'boolean',
  moment: 'timestamptz',
  day: 'date',
  uuid: 'uuid',
  json: 'jsonb',
};

/** A column that can be null, and whose differences count. */
export const column = (name: string, type: SqlType, about: string, more: Partial<Column> = {}): Column => ({
  name,
  type,
  about,
  nullable: true,
  volatile: false,
  ...more,
});

/** The columns of one scalar. */
export function scalarColumns(name: string, kind: Kind, about: string, more: Partial<Column>): Column[] {
  if (kind !== 'epoch') return [column(name, SQL[kind], about, more)];
  const epoch = `${name}_epoch`;
  return [
    column(name, 'timestamptz', about, { ...more, epoch }),
    column(epoch, 'bigint', `${about} Number as sent, in seconds, milliseconds or microseconds since 1970.`, more),
  ];
}

/** The columns of these fields; `personal` applies to those that do not declare it. */
export function columnsOf(fields: Fields, prefix: string, personal?: PersonalData): Column[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    columnsOfField({ ...field, personal: field.personal ?? inherited(name, personal) }, prefix + name),
  );
}

/** What a field inherits from its object: the type of an identifying URN does not identify. */
const inherited = (name: string, personal: PersonalData | undefined): PersonalData | undefined =>
  personal === 'identifier' && name === 'type' ? undefined : personal;

function columnsOfField(field: Field, name: string): Column[] {
  const { personal } = field;
  switch (field.shape) {
    case 'scalar':
      return scalarColumns(name, field.kind, field.about, { volatile: field.volatile, personal });
    case 'given':
      return scalarColumns(name, field.kind, field.about, { personal });
    case 'object':
      return columnsOf(field.fields, `${name}_`, personal);
    case 'list':
    case 'nested-list':
      return [
        column(
          countColumn(name),
          'bigint',
          `Number of elements: ${lowerFirst(field.about)} Null if not reported; 0 if there are none.`,
          {
            volatile: field.volatile,
          },
        ),
      ];
    case 'nested': {
      const to = field.resource();
      return to.key.map((key) =>
        column(`${name}_${key}`, 'text', `${field.about} Its ${key}.`, { personal: personalOf(to, key) }),
      );
    }
  }
}

/** How a key column of the resource concerns a person. Nested entities are left out: a post can contain a post. */
export function personalOf({ fields }: Resource, name: string): PersonalData | undefined {
  const flat = Object.entries(fields).filter(([, { shape }]) => shape !== 'nested');
  return columnsOf(Object.fromEntries(flat), '').find((it) => it.name === name)?.personal;
}

/** The name of the column with the number of elements of a list. */
export const countColumn = (listName: string): string => `${listName}_count`;

/** The text as the continuation of a sentence. */
export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
