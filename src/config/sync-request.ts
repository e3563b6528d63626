/** The request fields of one sync that the config sets. Inputs, windows and paging fill in the others. */
import type * as z from 'zod';
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { check } from './check.ts';
import type { ReportProblem } from './document/problem.ts';
import { dayFields, ownField, requestSchema, reversedRange, setFields } from './request-fields.ts';
import type { Span } from './document/source.ts';
import { emptyMap, entryOf, isNull, type Tree } from './document/tree.ts';

export interface RequestContext {
  readonly endpoint: Endpoint;
  readonly tree: Tree;
  /** The position of its name. */
  readonly keySpan: Span;
  /** The fields that inputs provide; undefined if that is unknown until they are read. */
  readonly inputFields: ReadonlySet<string> | undefined;
  readonly report: ReportProblem;
}

/** The fields that the config sets. Wrong and missing fields go to the context's `report`. */
export function requestOf(context: RequestContext): RequestBody {
  const { endpoint, tree, inputFields, report } = context;
  const at = entryOf(tree, 'request');
  const keySpan = at?.keySpan ?? context.keySpan;
  const empty = !at || isNull(at.value);
  const body = empty ? emptyMap(keySpan) : at.value;
  checkOwned(body, context);
  const isBrought = (field: string): boolean => inputFields === undefined || inputFields.has(field);
  const checked = check(requestSchema(endpoint, isBrought), body, report, keySpan, at ? '' : 'request.');
  const fields = checked ? setFields(checked.written) : {};
  const reversed = reversedRange(endpoint, fields);
  if (reversed) report(entryOf(body, reversed.field)?.keySpan ?? keySpan, reversed.message);
  return fields;
}

/** These fields without those that have the default of the contract. */
export const withoutDefaults = ({ request }: Endpoint, fields: RequestBody): RequestBody =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== (request.shape[name] as z.ZodType | undefined)?.safeParse(undefined).data,
    ),
  );

/** Reports fields with two sources, because one source would silently override the other. */
function checkOwned(body: Tree, { endpoint, tree, inputFields, report }: RequestContext): void {
  for (const { key, keySpan } of body.kind === 'map' ? body.entries : []) {
    const refusal = ownField(endpoint, key);
    if (refusal !== undefined) report(keySpan, refusal);
    if (inputFields?.has(key) === true)
      report(keySpan, `${key} is set by both request and for_each; remove one of them`);
  }
  for (const field of entryOf(tree, 'window') ? dayFields(endpoint) : []) {
    const inputs = inputFields?.has(field) === true ? entryOf(tree, 'for_each') : undefined;
    const set = entryOf(body, field) ?? inputs;
    if (set) report(set.keySpan, `${field} is filled in by window; remove it, or remove window`);
  }
}
