/** Digests that identify the plan of a run: an open run is continued only by a plan of the same kind. */
import type { SyncDefinition } from '../../config/definition.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';

/** The options of a plan beside its definition. */
export interface PlanOptions {
  readonly refresh: boolean;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

type Hashed = Pick<SyncDefinition, 'hash'>;

/** The digest of a refresh of this range, or of the complete sync. */
export const refreshHash = (definition: Hashed, { from, to }: Pick<PlanOptions, 'from' | 'to'>): string =>
  planHash(definition, { refresh: true, from, to });

/**
 * The digest of a plan. A backfill and a refresh have plans of their own, so they do not continue an open run of the
 * plain sync.
 */
export const planHash = (definition: Hashed, { refresh, from, to }: PlanOptions): string =>
  refresh || from !== undefined || to !== undefined
    ? digestOf(canonicalJson([definition.hash, refresh, from ?? null, to ?? null]))
    : definition.hash;

/**
 * Digests of other plans whose open run is continued too. Any sync continues a refresh; only the same backfill
 * continues a backfill.
 */
export const alsoContinued = (definition: Hashed, { from, to }: PlanOptions): readonly string[] =>
  from === undefined && to === undefined ? [refreshHash(definition, {})] : [];

/** True if the sync's requests name days up to the present. */
export const asksForDays = ({ window, endpoint }: Pick<SyncDefinition, 'window' | 'endpoint'>): boolean =>
  window !== undefined || endpoint.paging.by === 'cursor';
