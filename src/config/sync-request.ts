/** The request of one sync: what the config sets, apart from what inputs, windows and paging bring. */
import type { RequestBody } from '../service/asked.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { check } from './check.ts';
import type { Report } from './document/problem.ts';
import { dayFields, requestSchema, setFields } from './request-fields.ts';
import type { Span } from './document/source.ts';
import { emptyMap, entryOf, type Tree } from './document/tree.ts';

export interface RequestContext {
  readonly endpoint: Endpoint;
  /** The whole sync, and the place of its name. */
  readonly tree: Tree;
  readonly keySpan: Span;
  /** The fields that inputs bring; undefined when that isn't known before they are read. */
  readonly brought: ReadonlySet<string> | undefined;
  readonly report: Report;
}

/** The fields that the config sets; what is wrong with them, or missing, goes to the context's `report`. */
export function requestOf(context: RequestContext): RequestBody {
  const { endpoint, tree, brought, report } = context;
  const at = entryOf(tree, 'request');
  const keySpan = at?.keySpan ?? context.keySpan;
  const empty = !at || (at.value.kind === 'scalar' && at.value.value === null && !at.value.broken);
  const body = empty ? emptyMap(keySpan) : at.value;
  checkOwned(body, context);
  const isBrought = (field: string): boolean => brought === undefined || brought.has(field);
  const checked = check(requestSchema(endpoint, isBrought), body, report, keySpan, at ? '' : 'request.');
  return checked ? setFields(checked.given) : {};
}

/** Each field has one source; a second one would be overruled without a word. */
function checkOwned(body: Tree, { endpoint, tree, brought, report }: RequestContext): void {
  for (const { key, keySpan } of body.kind === 'map' ? body.entries : []) {
    if (endpoint.paging.owns.includes(key)) report(keySpan, `${key} is filled in by paging; remove it`);
    if (brought?.has(key) === true) report(keySpan, `${key} is set by request and by for_each; allowed is one of them`);
  }
  for (const field of entryOf(tree, 'window') ? dayFields(endpoint) : []) {
    const inputs = brought?.has(field) === true ? entryOf(tree, 'for_each') : undefined;
    const set = entryOf(body, field) ?? inputs;
    if (set) report(set.keySpan, `${field} is filled in by window; remove it, or remove window`);
  }
}
