/** Tells the alerts of a long-running process: after each run, and what nobody heard again until somebody does. */
import type { Config } from '../config/definition.ts';
import type { Ended } from './judge.ts';
import { tellAlerts, type TellEffects, type TellPlace } from './tell.ts';

export interface Teller {
  /** Judges how a sync ended and tells what is new, after what came before; nobody waits for it. */
  readonly tell: (ended: Ended) => void;
  /** Waits for what is being told; what is not heard then, the next process tells. */
  readonly close: () => Promise<void>;
}

/** A sync that runs once a day would tell tomorrow what failed today; longer and longer, since each failure is a line of the log. */
const FIRST_AGAIN_MS = 60_000;
const LONGEST_AGAIN_MS = 3_600_000;

/** Begins to tell what the config wants told. */
export function openTeller(
  config: Pick<Config, 'alerts' | 'budget'>,
  warehouse: TellPlace,
  effects: TellEffects,
): Teller {
  const closed = new AbortController();
  /** How syncs ended that could not be judged yet, the last end of each. */
  const unjudged = new Map<string, Ended>();
  let last = Promise.resolve();
  let againMs = FIRST_AGAIN_MS;
  let waits = false;
  const tellAll = async (): Promise<void> => {
    const syncs = [...unjudged.values()];
    unjudged.clear();
    const { judged, told } = await tellAlerts(config, warehouse, { syncs }, effects);
    if (!judged) for (const it of syncs) if (!unjudged.has(it.sync)) unjudged.set(it.sync, it);
    if (judged && told) {
      againMs = FIRST_AGAIN_MS;
      return;
    }
    if (waits || closed.signal.aborted) return;
    waits = true;
    const ms = againMs;
    againMs = Math.min(againMs * 2, LONGEST_AGAIN_MS);
    void effects.sleep(ms, closed.signal).then(
      () => {
        waits = false;
        enter();
      },
      () => undefined,
    );
  };
  const enter = (): void => {
    last = last.then(tellAll);
  };
  return {
    tell: (ended) => {
      if (!config.alerts) return;
      unjudged.set(ended.sync, ended);
      enter();
    },
    close: async () => {
      closed.abort();
      await last;
    },
  };
}
