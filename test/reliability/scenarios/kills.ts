/** Processes that are killed with SIGKILL, at a named point or at any moment, and the process that continues. */
import type { Checkpoint } from '../../../src/ledger/kill-points.ts';
import type { Warehouse } from '../../../src/warehouse/connect/connect.ts';
import type { Draws } from '../draws.ts';
import type { Order } from '../drive.ts';
import type { WarehouseTemplates } from '../warehouse-templates.ts';
import { startHttpProxy } from '../http-proxy.ts';
import type { Oracle } from '../oracle.ts';
import type { Ended } from '../processes.ts';
import { openStage, type Stage, untilComplete, type Verdict } from '../stage.ts';
import { type Form, IN_FLIGHT, LONG_FORM } from '../workload.ts';

/** The points of a request at which a process can be ordered to die. */
export const KILL_POINTS = [
  'before_sent',
  'after_sent',
  'mid_body',
  'before_store',
  'after_store',
  'before_load_commit',
  'after_load_commit',
] as const satisfies readonly (Checkpoint | 'mid_body')[];

export type KillPoint = (typeof KILL_POINTS)[number];

export type Death =
  /** When the process reaches the point for the nth time. */
  | { readonly at: KillPoint; readonly nth: number }
  /** From outside: this long after the process's nth request reached the service; 0 is the start of the process. */
  | { readonly afterRequest: number; readonly ms: number };

export interface Killed extends Verdict {
  /** How many of the kills happened; a process that ends before its point survives. */
  readonly died: number;
  /** The kills that did not happen. */
  readonly missed: readonly Death[];
  readonly tookMs: number;
}

/** Kills one process after the other, lets the last one finish, and checks the result. */
export async function killed(
  templates: WarehouseTemplates,
  kind: Warehouse['kind'],
  deaths: readonly Death[],
  expected: Oracle,
  form: Form = LONG_FORM,
): Promise<Killed> {
  const startedAt = performance.now();
  let onArrival: (number: number) => void = () => undefined;
  const stage = await openStage(templates, { ...form, kind, onArrival: (number) => onArrival(number) });
  try {
    let died = 0;
    const missed: Death[] = [];
    const listen = (onRequest: (number: number) => void): void => {
      onArrival = onRequest;
    };
    for (const death of deaths) {
      await stage.passTime();
      const { signal, summary, wrote } = await dying(stage, death, listen);
      if (signal === 'SIGKILL') died += 1;
      else if (summary?.exitCode === 0) missed.push(death);
      else throw new Error(`it ended by itself: ${JSON.stringify(summary)} ${wrote}`);
    }
    const [last] = await untilComplete(stage, () => stage.startSurvivor(HURRIED), 1);
    const verdict = await stage.judge(died * IN_FLIGHT, expected);
    return {
      ...verdict,
      violations: [...verdict.violations, ...unlisted(verdict, died, last)],
      died,
      missed,
      tookMs: performance.now() - startedAt,
    };
  } finally {
    await stage.close();
  }
}

/**
 * Checks that one kill leaves no more requests in doubt than allowed, and that the summary of the continued run lists
 * all of them.
 */
function unlisted({ figures }: Verdict, died: number, last: Ended | undefined): string[] {
  const { inDoubt, mostInDoubtAtOnce } = figures;
  const listed = last?.summary?.syncs.reduce((sum, { lostAnswers }) => sum + lostAnswers.length, 0) ?? 0;
  return [
    ...(mostInDoubtAtOnce > IN_FLIGHT ? [`${mostInDoubtAtOnce} requests in doubt after one death`] : []),
    // After several kills, a sync may have ended and listed its losses in a process that was killed later.
    ...(died === 1 && listed !== inDoubt ? [`${inDoubt} attempts in doubt, and ${listed} in the summary`] : []),
  ];
}

/** A continued run first waits until the log can show lost requests; hundreds of runs have no time for that. */
export const HURRIED = { longestWaitMs: 100 };

/** Starts a process that is ordered to die, and returns how it ended; `listen` gets its arrivals. */
export async function dying(
  stage: Pick<Stage, 'start' | 'sandbox'>,
  death: Death,
  listen: (onRequest: (number: number) => void) => void,
  order: Omit<Order, 'config'> = HURRIED,
): Promise<Ended> {
  if ('at' in death && death.at !== 'mid_body')
    return stage.start({ ...order, die: { at: death.at, nth: death.nth } }).ended;
  if ('at' in death) {
    const proxy = await startHttpProxy(stage.sandbox.url, (exchange) =>
      exchange === death.nth ? { kind: 'half', onHalf: () => victim.kill() } : undefined,
    );
    const victim = stage.start(order, { serviceUrl: proxy.url });
    const ended = await victim.ended;
    await proxy.close();
    return ended;
  }
  const before = stage.sandbox.requests().length;
  const victim = stage.start(order);
  const soon = (): void => void setTimeout(victim.kill, death.ms);
  if (death.afterRequest === 0) void victim.began.then(soon);
  listen((number) => {
    if (number === before + death.afterRequest) soon();
  });
  return victim.ended;
}

/**
 * A random moment of a run with this many requests; the waits cover the loads after a request, and the end of the run.
 */
export const randomDeath = (draws: Draws, requests: number): Death => ({
  afterRequest: draws.between(0, requests),
  ms: draws.between(0, 40),
});
