/** Decides which alerts are active, from how runs ended, the quarantine and the forecast. Pure. */
import type { AlertSettings, Budget } from '../config/definition.ts';
import { ALL_SYNCS, type AlertCondition } from './store.ts';
import { DAY_MS, dayOf } from '../day.ts';
import type { SyncSummary } from '../ledger/summary.ts';

/** The exit codes that decide the kind of alert. */
const COMPLETE = 0;
const REJECTS = 4;
const OUT_OF_POINTS = 6;
const HELD = 7;
/** The error text of a run that a person or a scheduler ended. */
const BY_SIGNAL = /stopped by a signal/;

/** How a sync ended: the fields that alerts depend on. */
export type EndedSync = Pick<SyncSummary, 'sync' | 'endpoint' | 'runId' | 'state' | 'exitCode' | 'error' | 'next'>;

/** What a run of a part of its sync left: nothing missing, or perhaps something. */
export type PartRuns = ReadonlyMap<string, 'nothing missing' | 'unknown'>;

/**
 * The conditions that the ends of these runs raise and clear. A run changes none if another process holds its sync, if it
 * did not start, or if a signal stopped it. The runs in `partRuns` requested only a part of
 * their sync: they clear none, except `partial` if nothing is missing since.
 */
export function runConditions(syncs: readonly EndedSync[], partRuns: PartRuns = new Map()): AlertCondition[] {
  return syncs.filter(isConclusive).flatMap((ended) => {
    const current = kindOf(ended);
    const part = ended.runId === null ? undefined : partRuns.get(ended.runId);
    const isChanged = (kind: string): boolean =>
      part === undefined || kind === current || (kind === 'partial' && part === 'nothing missing');
    const kinds = (['failed', 'partial', 'out_of_points'] as const).filter(isChanged);
    return kinds.map((kind) => ({
      sync: ended.sync,
      kind,
      isRaised: kind === current,
      because:
        kind === current ? (ended.error ?? `it ended with exit code ${ended.exitCode}`) : overBecause(ended, current),
      next: kind === current ? ended.next : null,
      runId: ended.runId,
    }));
  });
}

/** False for a run that says nothing: another process holds its sync, it did not start, or a signal stopped it. */
export function isConclusive({ runId, state, exitCode, error }: EndedSync): boolean {
  const notBegun = runId === null && state === 'interrupted';
  return !notBegun && exitCode !== HELD && !BY_SIGNAL.test(error ?? '');
}

function kindOf({ exitCode, state }: EndedSync): 'failed' | 'partial' | 'out_of_points' | undefined {
  // Only failed checks end a complete run with 4, and they have alerts of their own.
  if (exitCode === COMPLETE || (exitCode === REJECTS && state === 'complete')) return undefined;
  if (exitCode === OUT_OF_POINTS) return 'out_of_points';
  return state === 'partial' ? 'partial' : 'failed';
}

const overBecause = ({ state }: EndedSync, kind: string | undefined): string =>
  kind === undefined ? `its newest run ended ${state}` : `its newest run ended otherwise: ${kind.replaceAll('_', ' ')}`;

/** Open entries in quarantine, by sync, for the syncs that ran. */
export type QuarantineCounts = readonly { readonly sync: string; readonly open: number }[];

export function quarantineConditions(
  quarantined: QuarantineCounts,
  { quarantine: limit }: AlertSettings,
): AlertCondition[] {
  return quarantined.map(({ sync, open }) => ({
    sync,
    kind: 'quarantine',
    isRaised: open > limit,
    because:
      open > limit
        ? `${open} items and answers are in quarantine, more than alerts.quarantine allows (${limit})`
        : `${open} items and answers are in quarantine`,
    next: open > limit ? 'List them with sluice quarantine list.' : null,
    runId: null,
  }));
}

/** The current checks of severity `error` that failed or could not run, by sync, for the syncs that ran. */
export type FailedChecks = readonly { readonly sync: string; readonly failed: readonly string[] }[];

export const checkConditions = (checks: FailedChecks): AlertCondition[] =>
  checks.map(({ sync, failed }) => ({
    sync,
    kind: 'check',
    isRaised: failed.length > 0,
    because:
      failed.length > 0
        ? `${failed.length === 1 ? 'a check' : `${failed.length} checks`} failed: ${failed.join(' | ')}`
        : 'no check fails',
    next: failed.length > 0 ? 'Read the results with sluice query "select * from check_status".' : null,
    runId: null,
  }));

/** Points left and the rate of spending, from the request log. */
export interface PointsForecast {
  readonly pointsLeft: number;
  readonly reportedAt: Date;
  readonly pointsPerDay: number;
}

/** The condition that the points reach the reserve (`budget.keep`) within `alerts.forecast`. */
export function forecastCondition(
  { pointsLeft, reportedAt, pointsPerDay }: PointsForecast,
  { keep = 0 }: Budget,
  { forecastMs }: AlertSettings,
  now: Date,
): AlertCondition {
  const reserve = keep === 0 ? 'none are left' : `they are below the reserve (budget.keep, ${keep})`;
  const spare = pointsLeft - keep;
  const endsAt = spare <= 0 ? reportedAt.getTime() : reportedAt.getTime() + (spare / pointsPerDay) * DAY_MS;
  const isRaised = spare <= 0 || (pointsPerDay > 0 && endsAt <= now.getTime() + forecastMs);
  const pace = `${pointsLeft} points were left on ${dayOf(reportedAt)}, and ${Math.round(pointsPerDay)} a day are spent`;
  return {
    sync: ALL_SYNCS,
    kind: 'forecast',
    isRaised,
    because: !isRaised
      ? pace
      : spare <= 0
        ? `${pace}: ${reserve}`
        : `${pace}: on ${dayOf(new Date(endsAt))} ${reserve}`,
    next: isRaised
      ? 'Get more points, or set a lower budget.per_day; sluice costs shows what they are spent on.'
      : null,
    runId: null,
  };
}
