/**
 * Constructors of fields. A field declares what the service sends, the columns that store it and its meaning to an
 * analyst. The set of shapes is closed, and every reader (validation, tables, rows, comments, samples, reference) is a
 * fold over it.
 */
import type {
  Kind,
  Detail,
  FieldMetadata,
  ScalarField,
  ObjectField,
  ListField,
  ListElement,
  NestedField,
  NestedListField,
  RequestValueField,
  Field,
  Fields,
  Resource,
} from './model.ts';

const plain = (about: string): FieldMetadata => ({ about, required: false, volatile: false, switchedBy: [] });
const scalar =
  (kind: Kind) =>
  (about: string): ScalarField => ({ shape: 'scalar', kind, ...plain(about) });

export const text = scalar('text');
export const integer = scalar('integer');
export const number = scalar('number');
export const boolean = scalar('flag');
export const timestamp = scalar('moment');
export const day = scalar('day');
export const uuid = scalar('uuid');
export const epoch = scalar('epoch');
export const json = scalar('json');

export const object = (
  about: string,
  fields: Fields,
  more: Pick<ObjectField, 'tag' | 'observation'> = {},
): ObjectField => ({
  shape: 'object',
  fields,
  ...more,
  ...plain(about),
});
/** An identifier of the professional network, in columns `f_type` and `f_value`. `kinds` are examples of its types. */
export const urn = (about: string, ...kinds: readonly [string, ...string[]]): ObjectField =>
  object(about, {
    type: text(`${about} Type of the URN, such as ${kinds.join(' or ')}.`),
    value: text(`${about} Value of the URN.`),
  });
/** A list of texts, one per row; `about` names them in the plural. `filtered` adds an index for lookups by element. */
export const texts = (about: string, column: string, filtered = false): ListField => ({
  shape: 'list',
  element: { of: 'scalar', column, filtered },
  ...plain(about),
});
export const anything = (about: string): ListField => ({ shape: 'list', element: { of: 'json' }, ...plain(about) });
export const objects = (
  about: string,
  fields: Fields,
  more: Partial<Omit<Extract<ListElement, { of: 'object' }>, 'of' | 'fields'>> & Pick<ListField, 'named'> = {},
): ListField => {
  const { named, ...element } = more;
  return {
    shape: 'list',
    element: { of: 'object', fields, key: [], ...element },
    ...(named !== undefined && { named }),
    ...plain(about),
  };
};
export const nested = (about: string, detail: Detail, resource: () => Resource): NestedField => ({
  shape: 'nested',
  detail,
  resource,
  ...plain(about),
});
export const nestedList = (about: string, detail: Detail, resource: () => Resource): NestedListField => ({
  shape: 'nested-list',
  detail,
  resource,
  ...plain(about),
});
export const fromRequest = (kind: Kind, about: string, from: RequestValueField['from']): RequestValueField => ({
  shape: 'given',
  kind,
  about,
  from,
});

/** The same field, always present according to the contract. */
export const required = <F extends Exclude<Field, RequestValueField>>(field: F): F => ({ ...field, required: true });
/** The same field, whose differences do not count as a change of the entity. */
export const volatile = <F extends Exclude<Field, RequestValueField>>(field: F): F => ({ ...field, volatile: true });
/** The same field, which identifies a person or something by a person. */
export const identifier = <F extends Field>(field: F): F => ({ ...field, personal: 'identifier' });
/** The same field, which describes a person, or which a person wrote. */
export const personal = <F extends Field>(field: F): F => ({ ...field, personal: 'content' });
/** The same field, reported only if one of these request switches is on. */
export const onlyWith = <F extends Exclude<Field, RequestValueField>>(field: F, ...switches: readonly string[]): F => ({
  ...field,
  switchedBy: switches,
});
/** The same field, with the value that applies if a full answer omits it. */
export const fallback = (field: ScalarField, value: string | number | boolean): ScalarField => ({
  ...field,
  fallback: value,
});
