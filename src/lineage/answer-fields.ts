/** The fields of an answer with their paths, and the columns that they fill: folds over the declarations. */
import type { Detail, Field, Fields, ListField } from '../service/model.ts';
import { countColumn, scalarColumns } from '../warehouse/schema/columns.ts';

/** A value of a column. */
export interface ColumnSource {
  readonly column: string;
  /**
   * answer: the value at the path. request: a value of the request, or the position in the answer. computed: derived from
   * what is at the path, such as the length of a list.
   */
  readonly from: 'answer' | 'request' | 'computed';
  /** The path in an answer, such as `[].author.urn.value`; null for a value of the request. */
  readonly path: string | null;
  /** Request switches. An answer has the value only if one of them is on; empty if it always has it. */
  readonly onlyWith: readonly string[];
}

/** A place in the answers of an endpoint whose values become rows of a table. */
export interface RowSource {
  readonly table: string;
  /** The path in an answer, such as `[].author`; `[]` is each item. */
  readonly path: string;
  /** How much it reports about an entity. */
  readonly detail: Detail;
  /** Request switches. An answer has such rows only if one of them is on; empty if it always has them. */
  readonly onlyWith: readonly string[];
  /** The columns that it fills. */
  readonly columns: readonly ColumnSource[];
}

/** A field below a resource, or below an element of a list. */
export interface AnswerField {
  readonly field: Field;
  /** The names from the resource, or from the element, down to the field. */
  readonly names: readonly string[];
  readonly path: string;
  readonly onlyWith: readonly string[];
}

/** The object, list or answer that contains fields. */
export type AnswerPlace = Pick<AnswerField, 'names' | 'path' | 'onlyWith'>;

/** The place of each item of an answer. */
export const ITEM: AnswerPlace = { names: [], path: '[]', onlyWith: [] };

/** The place of each element of a list, whose fields have names of their own. */
export const elementPlace = ({ path, onlyWith }: AnswerField): AnswerPlace => ({
  names: [],
  path: `${path}[]`,
  onlyWith,
});

/** Every field in this place; those inside objects come after the object itself. */
export const fieldsAt = (fields: Fields, { names, path, onlyWith }: AnswerPlace): AnswerField[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const own: AnswerField = {
      field,
      names: [...names, name],
      path: `${path}.${name}`,
      onlyWith: field.shape === 'given' ? onlyWith : [...onlyWith, ...field.switchedBy],
    };
    return field.shape === 'object' ? [own, ...fieldsAt(field.fields, own)] : [own];
  });

/** The columns that these fields fill in the row of their resource or element. */
export const columnSources = (fields: readonly AnswerField[]): ColumnSource[] => fields.flatMap(columnsOfField);

function columnsOfField({ field, names, path, onlyWith }: AnswerField): ColumnSource[] {
  const name = names.join('_');
  switch (field.shape) {
    case 'scalar':
      return scalarColumns(name, field.kind, '', {}).map((it) => ({ column: it.name, from: 'answer', path, onlyWith }));
    case 'given':
      return scalarColumns(name, field.kind, '', {}).map((it) => fromRequest(it.name));
    case 'list':
    case 'nested-list':
      return [{ column: countColumn(name), from: 'computed', path, onlyWith }];
    case 'nested': {
      const { key, fields: inner } = field.resource();
      return columnSources(fieldsAt(withoutNested(inner), { names: [], path, onlyWith }))
        .filter(({ column }) => key.includes(column))
        .map((it) => ({ ...it, column: `${name}_${it.column}` }));
    }
    case 'object':
      return [];
  }
}

/** A post can contain a post, whose key is not needed. */
const withoutNested = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, { shape }]) => shape !== 'nested'));

/** The columns of the rows of a list, without the key of their parent. */
export function elementSources(list: ListField, at: AnswerField): ColumnSource[] {
  const { element } = list;
  const place = elementPlace(at);
  const position = computedFrom('position', place);
  switch (element.of) {
    case 'scalar':
      return [position, { ...position, column: element.column, from: 'answer' }];
    case 'json':
      return [position, { ...position, column: 'item', from: 'answer' }];
    case 'object': {
      const computed = [
        ...(element.key.length > 0 ? [] : ['position']),
        ...Object.keys(element.derived ?? {}),
        'extra',
      ];
      return [
        ...columnSources(fieldsAt(element.fields, place)),
        ...computed.map((column) => computedFrom(column, place)),
      ];
    }
  }
}

/** A column whose value is derived from what is at the place. */
export const computedFrom = (column: string, { path, onlyWith }: AnswerPlace): ColumnSource => ({
  column,
  from: 'computed',
  path,
  onlyWith,
});

/** A column with a value of the request. */
export const fromRequest = (column: string): ColumnSource => ({ column, from: 'request', path: null, onlyWith: [] });

/** The columns with other names: the first of `from` is the first of `to`, and so on. */
export const renamedColumns = (
  columns: readonly ColumnSource[],
  from: readonly string[],
  to: readonly string[],
): ColumnSource[] =>
  columns.flatMap((it) => {
    const column = to[from.indexOf(it.column)];
    return column === undefined ? [] : [{ ...it, column }];
  });
