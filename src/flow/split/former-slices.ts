/** Slices that a sync no longer requests, because its definition changed. They are no lower bounds of what it has now. */
import { sql } from 'kysely';
import type { InputSource, SyncDefinition } from '../../config/definition.ts';
import { inputFieldsOf } from '../../config/for-each.ts';
import { dayNumber } from '../../day.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { type Days, isUnsplit } from '../../service/paging.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { canonicalRequest } from '../../service/request-key.ts';
import { windowOf } from '../../service/window/evidence.ts';
import { facetSplits } from '../../service/window/facet-splits.ts';
import { anyBigint } from '../../warehouse/sql/array-literal.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { boundsOfReadInputs } from '../../ledger/failures/read-inputs.ts';
import { watermarkFields } from '../prepare/watermarks.ts';
import type { FinishedRun } from '../run/finished-run.ts';

/**
 * Marks the lower bounds of earlier definitions that the definition of this run does not request, and unmarks those that
 * it requests again. Call it before lower bounds are counted.
 */
export async function recordFormerSlices(
  ops: Ops,
  { run, definition }: Pick<FinishedRun, 'run' | 'definition'>,
): Promise<void> {
  const rows = await ops
    .selectFrom('coverage as c')
    .innerJoin('requests as q', 'q.id', 'c.request_id')
    .innerJoin('runs as u', 'u.id', 'c.run_id')
    .select(['c.id', 'c.endpoint', 'c.filters', 'c.former', 'c.reason', 'q.input'])
    .where('c.sync', '=', run.sync)
    .where('c.reason', 'is not', null)
    .where((eb) => eb.or([eb('u.definition_hash', '<>', definition.hash), eb('c.former', 'is not', null)]))
    .execute();
  if (rows.length === 0) return;
  const isInput = inputTest(definition);
  const split = new Set(
    rows.flatMap(({ id, reason, filters }) => (isUnsplit(reason) && isSplitNow(definition, filters) ? [id] : [])),
  );
  const read = await boundsOfReadInputs(ops, run, [...split]);
  const changed = rows.filter(({ id, endpoint, filters, former, input }) => {
    const isFormer = former === true;
    // Only parts that were read replace the slice.
    const isReplaced = split.has(id) && (isFormer || read.has(id));
    const isRequested =
      endpoint === definition.endpoint.name && isInput(input) && isSliceOf(definition, input, filters) && !isReplaced;
    return isFormer === isRequested;
  });
  await ops
    .updateTable('coverage')
    .set({ former: sql<boolean | null>`case when former is null then true end` })
    .where('id', '=', anyBigint(changed.map(({ id }) => id)))
    .execute();
}

/** Tests whether a sync may still have an input, however it is written. Files and queries may have any with their fields. */
function inputTest({ endpoint, forEach = [] }: SyncDefinition): (input: RequestBody) => boolean {
  const fields = inputFieldsOf(forEach);
  const isInLists = forEach.filter((source) => source.from === 'list').map((source) => listTest(endpoint, source));
  return (input) => {
    const own = watermarkFields(endpoint, input);
    return Object.keys(own).every((field) => fields?.has(field) !== false) && isInLists.every((isIn) => isIn(own));
  };
}

function listTest(
  endpoint: Endpoint,
  source: InputSource & { readonly from: 'list' },
): (input: RequestBody) => boolean {
  const rows = source.rows.map((row) => watermarkFields(endpoint, row));
  const fields = new Set(rows.flatMap((row) => Object.keys(row)));
  const known = new Set(rows.map((row) => canonicalJson(row)));
  return (input) =>
    known.has(canonicalJson(Object.fromEntries(Object.entries(input).filter(([it]) => fields.has(it)))));
}

/** True if a slice is a part of what the sync requests for an input now. */
function isSliceOf(definition: SyncDefinition, input: RequestBody, slice: RequestBody): boolean {
  const { endpoint, window, splitBy } = definition;
  const { by, days } = endpoint.paging;
  // The count has no part in the slice, and an earlier input may have had none.
  const body = { ...definition.request, ...input, count: 1 };
  if (by === 'cursor') return true;
  // An earlier input may no longer be valid.
  if (!endpoint.request.safeParse(body).success) return false;
  const { count: _, ...question } = canonicalRequest(endpoint, body);
  const ofWindow = window && days ? [days.from, days.to] : [];
  const names = [...new Set([...Object.keys(question), ...Object.keys(slice)])].filter((it) => !ofWindow.includes(it));
  return (
    (!window || !days || isInWindow(window, days, slice)) &&
    names.every((name) =>
      Object.hasOwn(splitBy, name)
        ? isPartOf(slice[name], question[name])
        : canonicalJson(slice[name] ?? null) === canonicalJson(question[name] ?? null),
    )
  );
}

/** True if the sync now splits a slice into parts that together have all of its items. */
const isSplitNow = ({ endpoint, splitBy }: SyncDefinition, slice: RequestBody): boolean =>
  facetSplits(slice, splitBy, endpoint.paging.remainder).some(({ complete }) => complete);

/** True if a slice has days of the window. */
function isInWindow({ from, to }: NonNullable<SyncDefinition['window']>, days: Days, slice: RequestBody): boolean {
  const asked = windowOf(slice, days);
  return asked !== undefined && asked.to >= dayNumber(from) && (to === 'today' || asked.from <= dayNumber(to));
}

/** True if a slice with these values is a part of a question with those: it names no others, and excludes the same. */
function isPartOf(slice: unknown, question: unknown): boolean {
  const [part, all] = [listOf(slice), listOf(question)];
  return (
    all.excluded.every((value) => part.excluded.includes(value)) &&
    (all.named.length === 0 || (part.named.length > 0 && part.named.every((value) => all.named.includes(value))))
  );
}

function listOf(values: unknown): { readonly named: readonly string[]; readonly excluded: readonly string[] } {
  const all = Array.isArray(values) ? values.map(canonicalJson) : [];
  return { named: all.filter((it) => !it.startsWith('"-')), excluded: all.filter((it) => it.startsWith('"-')) };
}
