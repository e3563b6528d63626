/** Digests that identify the plan of a run: an open run is continued only by a plan of the same kind. */
import type { SyncDefinition } from '../../config/definition.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';

/** The options of a plan beside its definition. */
export interface PlanOptions {
  readonly refresh: boolean;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Plan only what failed in the last run with these options. */
  readonly failed?: boolean | undefined;
  /** Most requests to send; undefined for all. */
  readonly limit?: number | undefined;
  /** The newest answer when a saved plan was compared; undefined for a plan that is made now. */
  readonly horizon?: string | undefined;
  /** When the invocation began: its syncs share the answers received after that, also if they refresh. */
  readonly invokedAt?: Date | undefined;
  /** Ends the plan between two of its parts, which throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

type Hashed = Pick<SyncDefinition, 'hash'>;

/** The digest of a refresh with these options, or of the complete sync. */
export const refreshHash = (definition: Hashed, options: Omit<PlanOptions, 'refresh'>): string =>
  planHash(definition, { ...options, refresh: true });

/**
 * The digest of a plan. A backfill, a refresh, a limited run and a run of failed requests have plans of their own, so they
 * do not continue an open run of the plain sync.
 */
export const planHash = (definition: Hashed, options: PlanOptions): string => {
  const { refresh, from, to, failed = false, limit } = options;
  if (!refresh && !isPartOfSync(options)) return definition.hash;
  const parts = [...(failed ? ['failed'] : []), ...(limit === undefined ? [] : [limit])];
  return digestOf(canonicalJson([definition.hash, refresh, from ?? null, to ?? null, ...parts]));
};

/** The digests of the plans whose failed requests a plan of failed requests repeats. */
export const repeatedHashes = (definition: Hashed, options: PlanOptions): readonly string[] =>
  [true, false].flatMap((failed) =>
    [true, false].map((refresh) => planHash(definition, { ...options, limit: undefined, failed, refresh })),
  );

/**
 * Digests of other plans whose open run is continued too. Any sync of all inputs continues a refresh; only the same
 * backfill continues a backfill, and only the same limit a limited run.
 */
export const alsoContinued = (definition: Hashed, options: PlanOptions): readonly string[] =>
  isPartOfSync(options) ? [] : [refreshHash(definition, {})];

/** True if a run with these options requests only a part of the sync, so it says nothing about the rest. */
export const isPartOfSync = ({ from, to, failed, limit }: PlanOptions): boolean =>
  from !== undefined || to !== undefined || failed === true || limit !== undefined;

/** True if the sync's requests name days up to the present. */
export const asksForDays = ({ window, endpoint }: Pick<SyncDefinition, 'window' | 'endpoint'>): boolean =>
  window !== undefined || endpoint.paging.by === 'cursor';
