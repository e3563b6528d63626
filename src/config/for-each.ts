/** Reads the inputs of a sync: lists in the config, files, and queries on the warehouse. */
import { dirname, resolve } from 'node:path';
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { foundIn } from './check.ts';
import type { ForEach, InputSource } from './definition.ts';
import { INPUT_AGE, inputAgeOf } from './values/input-age.ts';
import { insteadOf } from './document/nearest.ts';
import type { ReportProblem } from './document/problem.ts';
import { fieldValue, ownField, settable, unknownField } from './request-fields.ts';
import { type SourceFile, locationOf } from './document/source.ts';
import { type MapEntry, entryOf, isNull, type MapTree, type Tree } from './document/tree.ts';

/**
 * A mapping with one of these keys is a source and not a mapping of fields. A request field of such a name
 * comes from `request`, from a list of mappings, or from a column.
 */
const SOURCE_KEYS = ['file', 'query'] as const;

export interface ForEachContext {
  readonly endpoint: Endpoint;
  readonly source: SourceFile;
  readonly report: ReportProblem;
}

const ALLOWED =
  'allowed are a mapping of request fields to their values, a list of mappings of request fields, { file: PATH } or { query: SQL }';

/** The sources of a `for_each`. Problems go to the context's `report`. */
export function forEachOf(tree: Tree, context: ForEachContext): ForEach {
  if (tree.kind === 'list') return listOfRows(tree.items, tree, context);
  if (tree.kind === 'scalar' || tree.entries.length === 0) {
    if (!(tree.kind === 'scalar' && tree.hasProblem))
      context.report(tree.span, `for_each is ${foundIn(tree)}; ${ALLOWED}`);
    return [];
  }
  if (isSource(tree)) return sourceAt(tree, undefined, context);
  return tree.entries.flatMap((entry) => fieldSources(entry, context));
}

const isSource = (tree: Tree): boolean => SOURCE_KEYS.some((key) => entryOf(tree, key));

/** The fields that a sync's inputs provide; undefined if only the content of a file or query determines them. */
export function inputFieldsOf(forEach: ForEach): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  for (const it of forEach) {
    if (it.from === 'list') for (const row of it.rows) for (const field of Object.keys(row)) fields.add(field);
    else if (it.field === undefined) return undefined;
    else fields.add(it.field);
  }
  return fields;
}

function listOfRows(items: readonly Tree[], tree: Tree, context: ForEachContext): ForEach {
  if (items.length === 0) context.report(tree.span, `for_each is an empty list; ${ALLOWED}`);
  const maxAgesMs = new Map<number, number>();
  const rows: RequestBody[] = [];
  for (const item of items) {
    const fields = item.kind === 'map' ? item.entries.filter(({ key }) => key !== INPUT_AGE) : [];
    if (fields.length > 0 && fields.every(({ value }) => isNull(value))) {
      context.report(item.span, 'every field of an input is null; allowed is at least one value');
    } else if (item.kind === 'map' && fields.length > 0) {
      const age = entryOf(item, INPUT_AGE);
      const maxAgeMs = age && inputAgeOf(age, context.report);
      if (maxAgeMs !== undefined) maxAgesMs.set(rows.length, maxAgeMs);
      rows.push(rowOf(item, context));
    } else {
      const found = entryOf(item, INPUT_AGE) ? `${INPUT_AGE} alone` : foundIn(item);
      context.report(
        item.span,
        `an input is ${found}; allowed is a mapping of request fields, or write for_each: { FIELD: [...] }`,
      );
    }
  }
  const where = locationOf(context.source, tree.span.start);
  return [{ from: 'list', rows, ...(maxAgesMs.size > 0 && { maxAgesMs }), where }];
}

function rowOf(item: MapTree, context: ForEachContext): RequestBody {
  return Object.fromEntries(
    item.entries.flatMap((entry) => {
      if (entry.key === INPUT_AGE || !isSettable(entry, context)) return [];
      const value = fieldValue(context.endpoint, entry, context.report);
      return value === undefined || value === null ? [] : [[entry.key, value]];
    }),
  );
}

function isSettable({ key, keySpan }: MapEntry, { endpoint, report }: ForEachContext): boolean {
  if (settable(endpoint).includes(key)) return true;
  if (key === INPUT_AGE) {
    report(
      keySpan,
      `${key} is not a request field; write it next to for_each, or in an input: [{ FIELD: VALUE, ${key}: 1d }]`,
    );
    return false;
  }
  report(keySpan, ownField(endpoint, key) ?? unknownField(endpoint, key));
  return false;
}

function fieldSources(entry: MapEntry, context: ForEachContext): InputSource[] {
  const { key, value } = entry;
  if (!isSettable(entry, context)) return [];
  if (value.kind === 'map' && isSource(value)) return sourceAt(value, key, context);
  if (value.kind !== 'list' || value.items.length === 0) {
    if (!(value.kind === 'scalar' && value.hasProblem)) {
      context.report(
        value.span,
        `for_each.${key} is ${foundIn(value)}; allowed is a list of values, { file: PATH } or { query: SQL }; write a single value under request`,
      );
    }
    return [];
  }
  const rows = value.items.flatMap((item): RequestBody[] => {
    const checked = fieldValue(context.endpoint, { ...entry, value: item }, context.report);
    if (checked !== null) return checked === undefined ? [] : [{ [key]: checked }];
    context.report(item.span, `an input of ${key} is null; allowed is a value`);
    return [];
  });
  return [{ from: 'list', rows, where: locationOf(context.source, value.span.start) }];
}

function sourceAt(tree: MapTree, field: string | undefined, { source, report }: ForEachContext): InputSource[] {
  const file = entryOf(tree, 'file');
  const allowed = file ? (field === undefined ? ['file'] : ['file', 'column']) : ['query'];
  for (const { key, keySpan } of tree.entries) {
    if (!allowed.includes(key))
      report(
        keySpan,
        `${JSON.stringify(key)} is not allowed next to ${file ? 'file' : 'query'}${insteadOf(key, allowed)}`,
      );
  }
  const textAt = (key: string): string | undefined => {
    const entry = entryOf(tree, key);
    if (!entry) return undefined;
    if (entry.value.kind === 'scalar' && entry.value.hasProblem) return undefined;
    if (entry.value.kind === 'scalar' && entry.value.value !== null && entry.value.text.trim() !== '')
      return entry.value.text;
    report(entry.value.span, `${key} is ${foundIn(entry.value)}; allowed is text that is not empty`);
    return undefined;
  };
  const where = locationOf(source, tree.span.start);
  if (!file) {
    const sql = textAt('query');
    return sql === undefined ? [] : [{ from: 'query', sql, field, where }];
  }
  const path = textAt('file');
  const column = textAt('column');
  return path === undefined ? [] : [{ from: 'file', path: resolve(dirname(source.file), path), field, column, where }];
}
