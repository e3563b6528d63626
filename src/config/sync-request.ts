/** The request of one sync: what the config sets, apart from what inputs, windows and paging bring. */
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { check } from './check.ts';
import type { ReportProblem } from './document/problem.ts';
import { dayFields, requestSchema, setFields } from './request-fields.ts';
import type { Span } from './document/source.ts';
import { emptyMap, entryOf, type Tree } from './document/tree.ts';

export interface RequestContext {
  readonly endpoint: Endpoint;
  /** The whole sync, and the place of its name. */
  readonly tree: Tree;
  readonly keySpan: Span;
  /** The fields that inputs bring; undefined when that isn't known before they are read. */
  readonly inputFields: ReadonlySet<string> | undefined;
  readonly report: ReportProblem;
}

/** The fields that the config sets; what is wrong with them, or missing, goes to the context's `report`. */
export function requestOf(context: RequestContext): RequestBody {
  const { endpoint, tree, inputFields, report } = context;
  const at = entryOf(tree, 'request');
  const keySpan = at?.keySpan ?? context.keySpan;
  const empty = !at || (at.value.kind === 'scalar' && at.value.value === null && !at.value.hasProblem);
  const body = empty ? emptyMap(keySpan) : at.value;
  checkOwned(body, context);
  const isBrought = (field: string): boolean => inputFields === undefined || inputFields.has(field);
  const checked = check(requestSchema(endpoint, isBrought), body, report, keySpan, at ? '' : 'request.');
  return checked ? setFields(checked.written) : {};
}

/** Each field has one source; a second one would be overruled without a word. */
function checkOwned(body: Tree, { endpoint, tree, inputFields, report }: RequestContext): void {
  for (const { key, keySpan } of body.kind === 'map' ? body.entries : []) {
    if (endpoint.paging.ownFields.includes(key)) report(keySpan, `${key} is filled in by paging; remove it`);
    if (inputFields?.has(key) === true)
      report(keySpan, `${key} is set by request and by for_each; allowed is one of them`);
  }
  for (const field of entryOf(tree, 'window') ? dayFields(endpoint) : []) {
    const inputs = inputFields?.has(field) === true ? entryOf(tree, 'for_each') : undefined;
    const set = entryOf(body, field) ?? inputs;
    if (set) report(set.keySpan, `${field} is filled in by window; remove it, or remove window`);
  }
}
