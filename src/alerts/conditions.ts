/** What the ends of runs, the quarantine and the forecast say: which alerts stand. Pure. */
import type { AlertSettings, Budget } from '../config/definition.ts';
import { ALL_SYNCS, type AlertCondition } from './store.ts';
import type { SyncSummary } from '../ledger/summary.ts';

/** The exit codes that an end is judged by, as product.md lists them. */
const COMPLETE = 0;
const OUT_OF_POINTS = 6;
const HELD = 7;
/** Words of the composer for a run that a person or a scheduler ended. */
const BY_SIGNAL = /stopped by a signal/;

/** How a sync ended, as far as alerts go by it. */
export type EndedSync = Pick<SyncSummary, 'sync' | 'endpoint' | 'runId' | 'state' | 'exitCode' | 'error' | 'next'>;

/** What the ends of these runs raise and clear. A run that others hold, that was not begun or was stopped from outside says nothing. */
export function runConditions(syncs: readonly EndedSync[]): AlertCondition[] {
  return syncs.flatMap((it) => {
    const notBegun = it.runId === null && it.state === 'interrupted';
    if (notBegun || it.exitCode === HELD || BY_SIGNAL.test(it.error ?? '')) return [];
    const kind = kindOf(it);
    return (['failed', 'partial', 'out_of_points'] as const).map((of) => ({
      sync: it.sync,
      kind: of,
      isRaised: of === kind,
      because: of === kind ? (it.error ?? `it ended with exit code ${it.exitCode}`) : overBecause(it, kind),
      next: of === kind ? it.next : null,
      runId: it.runId,
    }));
  });
}

function kindOf({ exitCode, state }: EndedSync): 'failed' | 'partial' | 'out_of_points' | undefined {
  if (exitCode === COMPLETE) return undefined;
  if (exitCode === OUT_OF_POINTS) return 'out_of_points';
  return state === 'partial' ? 'partial' : 'failed';
}

const overBecause = ({ state }: EndedSync, kind: string | undefined): string =>
  kind === undefined ? `its newest run ended ${state}` : `its newest run ended otherwise: ${kind.replaceAll('_', ' ')}`;

/** Open entries in quarantine by sync, of those that ran. */
export type QuarantineCounts = readonly { readonly sync: string; readonly open: number }[];

export function quarantineConditions(
  quarantined: QuarantineCounts,
  { quarantine: most }: AlertSettings,
): AlertCondition[] {
  return quarantined.map(({ sync, open }) => ({
    sync,
    kind: 'quarantine',
    isRaised: open > most,
    because:
      open > most
        ? `${open} items and answers are in quarantine, more than alerts.quarantine allows (${most})`
        : `${open} items and answers are in quarantine`,
    next: open > most ? 'See them with sluice quarantine list.' : null,
    runId: null,
  }));
}

/** Points left and their pace, by the request log. */
export interface PointsForecast {
  readonly pointsLeft: number;
  readonly reportedAt: Date;
  readonly pointsPerDay: number;
}

const DAY_MS = 86_400_000;
const ON_DAY = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whether the points come to the reserve within the time that is looked ahead. */
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
  const pace = `${pointsLeft} points were left on ${ON_DAY(reportedAt.getTime())}, and ${Math.round(pointsPerDay)} a day are spent`;
  return {
    sync: ALL_SYNCS,
    kind: 'forecast',
    isRaised,
    because: !isRaised ? pace : spare <= 0 ? `${pace}: ${reserve}` : `${pace}: on ${ON_DAY(endsAt)} ${reserve}`,
    next: isRaised ? 'Get more points, or set budget.per_day; sluice costs tells where they go.' : null,
    runId: null,
  };
}
