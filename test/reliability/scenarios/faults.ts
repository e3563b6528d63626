/**
 * Runs behind two proxies that disturb exchanges with the service and connections to Postgres, until a run completes.
 */
import type { Draws } from '../draws.ts';
import type { WarehouseTemplates } from '../warehouse-templates.ts';
import { type ExchangeScript, startHttpProxy } from '../http-proxy.ts';
import type { Oracle } from '../oracle.ts';
import { type Moment, type Script, startProxy, type Trouble } from '../proxy.ts';
import { openStage, untilComplete, type Verdict } from '../stage.ts';
import { type Form, IN_FLIGHT, LONG_FORM } from '../workload.ts';

export interface Spoiled extends Verdict {
  /** Faults that occurred, by place and kind. */
  readonly befell: Readonly<Record<string, number>>;
  /** Number of runs that were started. */
  readonly runs: number;
  readonly tookMs: number;
}

/** The scripts of the proxies; a proxy without a script passes everything on. */
export interface Spoil {
  readonly http?: ExchangeScript;
  readonly postgres?: Script;
}

/** In production, waits before retries and at the circuit breaker are longer. */
const LONGEST_WAIT_MS = 100;
const MOST_RUNS = 60;

/** Runs the config repeatedly behind the fault proxies, and checks the result. */
export async function spoiled(
  templates: WarehouseTemplates,
  spoil: Spoil,
  expected: Oracle,
  form: Form = LONG_FORM,
): Promise<Spoiled> {
  const startedAt = performance.now();
  const stage = await openStage(templates, { ...form, kind: 'postgres' });
  const http = await startHttpProxy(stage.sandbox.url, spoil.http);
  const postgres = await startProxy(stage.warehouse.url, spoil.postgres);
  const through = new URL(stage.warehouse.url);
  through.port = String(postgres.port);
  try {
    const start = () =>
      stage.startSurvivor({ longestWaitMs: LONGEST_WAIT_MS }, { serviceUrl: http.url, warehouseUrl: through.href });
    const disturbed = await untilComplete(stage, start, MOST_RUNS);
    // An answer that was not awaited may be logged after the log was read; the next run reads its row.
    const undisturbedLast = () => stage.startSurvivor({ longestWaitMs: LONGEST_WAIT_MS });
    const runs = [...disturbed, ...(await untilComplete(stage, undisturbedLast, 1))];
    const lostAnswers = countOf(http.befell(), ['refuse', 'swallow', 'cut', 'reset', 'silence']);
    const lostConnections = countOf(postgres.befell(), ['swallow', 'cut', 'reset', 'silence']);
    const verdict = await stage.judge(lostAnswers + lostConnections * IN_FLIGHT, expected);
    const named = (where: string, befell: Readonly<Record<string, number>>) =>
      Object.entries(befell).map(([kind, times]) => [`${where} ${kind}`, times] as const);
    return {
      ...verdict,
      befell: Object.fromEntries([...named('HTTP', http.befell()), ...named('Postgres', postgres.befell())]),
      runs: runs.length,
      tookMs: performance.now() - startedAt,
    };
  } finally {
    await http.close();
    await postgres.close();
    await stage.close();
  }
}

const countOf = (befell: Readonly<Record<string, number>>, kinds: readonly string[]): number =>
  kinds.reduce((sum, kind) => sum + (befell[kind] ?? 0), 0);

/** One exchange in twelve has a fault. */
export function randomExchanges(draws: Draws): ExchangeScript {
  return () => {
    if (!draws.chance(1 / 12)) return undefined;
    const bytes = draws.between(0, 4_000);
    return draws.pick([
      { kind: 'latency', ms: draws.between(1, 60) },
      { kind: 'refuse' },
      { kind: 'swallow' },
      { kind: 'cut', bytes },
      { kind: 'reset', bytes },
      { kind: 'silence', ms: draws.between(20, 120) },
    ] as const);
  };
}

/**
 * Two connections in three have a fault: after a number of bytes, or at a commit. A connection may end before its fault
 * begins, so the first one breaks early: otherwise a short run is rarely disturbed at all.
 */
export function randomConnections(draws: Draws): Script {
  return (connection) => {
    if (connection === 1) return { kind: 'reset', at: { way: 'down', bytes: draws.between(200, 2_000) } };
    if (!draws.chance(2 / 3)) return undefined;
    const commit: Moment = { said: 'commit', nth: draws.between(1, 20) };
    const up: Moment = { way: 'up', bytes: draws.between(200, 80_000) };
    const down: Moment = { way: 'down', bytes: draws.between(200, 60_000) };
    return draws.pick<Trouble>([
      { kind: 'latency', ms: draws.between(1, 3) },
      { kind: 'cut', at: draws.pick([up, down, commit]) },
      { kind: 'reset', at: draws.pick([up, down, commit]) },
      { kind: 'swallow', at: draws.pick([down, commit, commit]) },
      { kind: 'silence', at: draws.pick([up, down, commit]), ms: draws.between(50, 500) },
    ]);
  };
}

/** Each connection breaks during the reply to its third commit, so the client must find out whether it succeeded. */
export const lostCommits: Script = () => ({ kind: 'swallow', at: { said: 'commit', nth: 3 } });
