/** Slices of earlier runs that are lower bounds and on which a run relies. */
import type { SyncDefinition } from '../../config/definition.ts';
import { dayNumber } from '../../day.ts';
import { currentLowerBounds } from '../../ledger/coverage.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import type { Days } from '../../service/paging.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { canonicalRequest } from '../../service/request-key.ts';
import { windowOf } from '../../service/window/evidence.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { FinishedRun } from './finished-run.ts';

interface Reliance extends Pick<FinishedRun, 'run' | 'definition' | 'reliedInputs'> {
  readonly failOnTruncated?: boolean;
}

/**
 * Counts slices of earlier runs that are still lower bounds, for inputs that rely on those runs. If any input may rely on
 * them, they are counted only for `--fail-on-truncated`, because most runs of such syncs request everything again.
 */
export async function earlierBounds(
  ops: Ops,
  { run, definition, reliedInputs, failOnTruncated }: Reliance,
): Promise<number> {
  if (failOnTruncated !== true && !reliedInputs) return 0;
  const inputs = reliedInputs && new Set(reliedInputs.map(canonicalJson));
  const bounds = inputs?.size === 0 ? [] : await currentLowerBounds(ops, run.sync);
  return bounds.filter(
    ({ runId, input, filters }) =>
      runId !== run.id &&
      inputs?.has(canonicalJson(input)) !== false &&
      isSliceOf(definition, input, filters as RequestBody),
  ).length;
}

type QuestionDefinition = Pick<SyncDefinition, 'endpoint' | 'request' | 'window' | 'splitBy'>;

/** True if a slice is a part of what the sync requests for an input now. An earlier definition had other questions. */
function isSliceOf(definition: QuestionDefinition, input: RequestBody, slice: RequestBody): boolean {
  const { endpoint, window, splitBy } = definition;
  const { by, days } = endpoint.paging;
  const body = { ...definition.request, ...input };
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
