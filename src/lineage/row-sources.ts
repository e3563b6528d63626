/** Where an answer of an endpoint has the rows of analyst tables: derived from the declarations, as the normalizer reads them. */
import { memoizeByObject } from '../async/memoize.ts';
import type { Bridge, Endpoint } from '../service/endpoint.ts';
import type { Detail, Field, ObservationSpec, Resource } from '../service/model.ts';
import { referenceColumnNames } from '../warehouse/schema/references.ts';
import { childTableName, rootTableOf } from '../warehouse/schema/tables.ts';
import type { RootTable, Table, ChangeTable } from '../warehouse/schema/table-types.ts';
import {
  type AnswerField,
  type AnswerPlace,
  type ColumnSource,
  columnSources,
  computedFrom,
  elementPlace,
  elementSources,
  fieldsAt,
  fromRequest,
  ITEM,
  renamedColumns,
  type RowSource,
} from './answer-fields.ts';

/** Every source of rows in the answers of an endpoint. */
export const rowSourcesOf: (endpoint: Endpoint) => readonly RowSource[] = memoizeByObject(({ returns, bridge }) => [
  ...entitySources({ resource: returns, fields: fieldsAt(returns.fields, ITEM), at: ITEM, detail: 'full' }, []),
  ...(bridge ? [bridgeSource(bridge, returns)] : []),
]);

/** An object of an answer that reports about an entity. */
interface Reported {
  readonly resource: Resource;
  readonly fields: readonly AnswerField[];
  readonly at: AnswerPlace;
  readonly detail: Detail;
  /** True for an object inside another whose unmapped fields that one keeps, and whose fields that one reads. */
  readonly isPart?: boolean;
}

/** The sources in a reported object and in what it contains. A field in `above` contains the object. */
function entitySources({ resource, fields, at, detail, isPart }: Reported, above: readonly Field[]): RowSource[] {
  const root = rootTableOf(resource);
  const declared = columnSources(fields).filter(({ column }) => root.slots.has(column));
  const added = root.columns.filter(({ name }) => name.startsWith('_') || (name === 'extra' && isPart !== true));
  const own = sourceOf(root, at, detail, [...declared, ...added.map(({ name }) => computedFrom(name, at))]);
  const lists = fields.flatMap((it) => listSource(root, own, it));
  const rows = [own, ...lists];
  const all = [...rows, ...dailySources(root, own, lists), ...changeSources(root, rows)];
  if (isPart === true) return all;
  const elements = fields.flatMap((it) =>
    it.field.shape === 'list' && it.field.element.of === 'object'
      ? fieldsAt(it.field.element.fields, elementPlace(it))
      : [],
  );
  return [...all, ...[...fields, ...elements].flatMap((it) => containedSources(it, above))];
}

const sourceOf = (
  { name }: Table,
  { path, onlyWith }: AnswerPlace,
  detail: Detail,
  columns: readonly ColumnSource[],
): RowSource => ({ table: name, path, detail, onlyWith, columns });

/** The source of the rows of a list; none if the resource does not declare the list. */
function listSource(root: RootTable, parent: RowSource, at: AnswerField): RowSource[] {
  const { field, names } = at;
  if (field.shape !== 'list') return [];
  const name = childTableName(root.resource, names, field.named);
  const child = root.children.find((it) => it.name === name);
  if (!child) return [];
  const parentKey = renamedColumns(parent.columns, root.key, child.parentKey);
  return [sourceOf(child, elementPlace(at), parent.detail, [...parentKey, ...elementSources(field, at)])];
}

/** The sources in a field that contains or names entities with tables of their own. */
function containedSources(at: AnswerField, above: readonly Field[]): RowSource[] {
  const { field, names: _, ...place } = at;
  switch (field.shape) {
    case 'nested':
    case 'nested-list': {
      if (above.includes(field)) return [];
      const resource = field.resource();
      const inner = field.shape === 'nested' ? { ...place, names: [] } : elementPlace(at);
      const fields = fieldsAt(resource.fields, inner);
      return entitySources({ resource, fields, at: inner, detail: field.detail }, [...above, field]);
    }
    case 'object':
      return observedSources(
        field.observation,
        { ...place, names: [] },
        fieldsAt(field.fields, { ...place, names: [] }),
      );
    case 'list': {
      if (field.element.of !== 'object') return [];
      const inner = elementPlace(at);
      return observedSources(field.element.observation, inner, fieldsAt(field.element.fields, inner));
    }
    default:
      return [];
  }
}

/** The sources of an object with these fields that is also an observation of an entity. */
const observedSources = (
  observation: ObservationSpec | undefined,
  at: AnswerPlace,
  fields: readonly AnswerField[],
): RowSource[] =>
  (observation?.resources() ?? []).flatMap((resource) =>
    entitySources(
      {
        resource,
        at,
        detail: observation?.detail ?? 'full',
        isPart: true,
        // The object is the URN itself.
        fields: observation?.bare === true ? fields.map((it) => ({ ...it, names: ['urn', ...it.names] })) : fields,
      },
      [],
    ),
  );

/** The source of a bridge table: the entities that answer a request. */
function bridgeSource({ table, questionColumns, to, prefix, via, more = {} }: Bridge, returns: Resource): RowSource {
  const list = fieldsAt(returns.fields, ITEM).find(({ names }) => names.join('.') === via);
  const at = list ? elementPlace(list) : ITEM;
  const { key, fields } = to();
  const columns = [
    ...Object.keys(questionColumns).map(fromRequest),
    ...renamedColumns(columnSources(fieldsAt(fields, at)), key, referenceColumnNames(prefix, key)),
    ...['position', ...Object.keys(more), '_answer_id'].map((name) => computedFrom(name, at)),
  ];
  return { table, path: at.path, detail: 'full', onlyWith: at.onlyWith, columns };
}

/** The source of the daily numbers; none if the row is not full and reports none of them. */
function dailySources({ daily, key, children }: RootTable, own: RowSource, lists: readonly RowSource[]): RowSource[] {
  if (!daily) return [];
  const measures = daily.measures.flatMap(({ column, sum }) => {
    const child = children.find(({ name }) => name === sum?.child);
    const field = sum ? child?.columns.slice(child.parentKey.length)[sum.place]?.name : column;
    const from = sum ? lists.find(({ table }) => table === sum.child) : own;
    const source = from?.columns.find((it) => it.column === field);
    return source ? [{ ...source, column, ...(sum && { from: 'computed' as const }) }] : [];
  });
  if (measures.length === 0 && own.detail !== 'full') return [];
  return [historySource(daily, key, own, measures)];
}

/** The sources of the change logs of a row and its lists; none if the row reports no logged column. */
const changeSources = (root: RootTable, rows: readonly RowSource[]): RowSource[] =>
  [root, ...root.children].flatMap(({ name, changes, key }) =>
    rows
      .filter(({ table, columns }) => table === name && isLogged(changes, columns))
      .flatMap((row) => (changes ? [historySource(changes, key, row, [])] : [])),
  );

const isLogged = (changes: ChangeTable | undefined, columns: RowSource['columns']): boolean =>
  columns.some(({ column }) => changes?.attributes.includes(column));

function historySource(
  { name, columns, entityKey }: Pick<ChangeTable, 'name' | 'columns' | 'entityKey'>,
  key: readonly string[],
  row: RowSource,
  values: RowSource['columns'],
): RowSource {
  const known = [...renamedColumns(row.columns, key, entityKey), ...values];
  const computed = columns
    .filter((it) => !known.some(({ column }) => column === it.name))
    .map((it) => computedFrom(it.name, { ...row, names: [] }));
  return { ...row, table: name, columns: [...known, ...computed] };
}
