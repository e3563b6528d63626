/** What the runs of one process share: the client, the token's limiter, and what waits on the disk. */
import { hostname } from 'node:os';
import type { Config } from '../../config/definition.ts';
import { type Client, openClient } from '../../extract/client.ts';
import type { Spool } from '../../recovery/spool/files.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Notice, Progress } from '../../ledger/summary.ts';
import { clockWarning } from '../../warehouse/connect/clock.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { assertTablesPresent } from '../../warehouse/migrate/assert-schema.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import { openTokenLimiter } from '../../control/limiter/limiter.ts';
import type { Limiter } from '../../control/limiter/slot.ts';
import { capped } from '../../control/limiter/capped.ts';
import { type LogPosition, openLogPosition } from '../points/log-position.ts';
import { findableSpools, type Spools } from '../../recovery/spool/find-spools.ts';
import { toUserError, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { BeginRunSpan } from '../../telemetry/tracing.ts';

/** Everything that the flow needs from outside. */
export interface FlowEffects {
  /** The database's clock: all times that are stored, and those that are compared with them, are of it. */
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  readonly onProgress: (progress: Progress) => void;
  readonly onNotice: (notice: Notice) => void;
  /** Told of each point at which it matters that a process may die. */
  readonly checkpoint?: OnCheckpoint;
  /** Where answers wait that the database could not take; without one they are lost with it. */
  readonly spool?: Spool;
  /** Folders in which an earlier version may have kept answers. */
  readonly formerSpools?: readonly string[];
  /** Begins to trace a run; absent, nobody wants to know. */
  readonly beginSpan?: BeginRunSpan;
  /** Stands in for the client that is shipped. */
  readonly openClient?: typeof openClient;
}

export interface Invocation {
  readonly config: Config;
  readonly warehouse: Warehouse;
  readonly effects: FlowEffects;
  readonly client: Client;
  readonly limiter: Limiter;
  /** Where the request log ended when this process read it. */
  readonly logPosition: LogPosition;
  /** Most calls that a run may have under way in this process. */
  readonly inFlight: number;
  /** The spools that can be found, of all syncs. */
  readonly spools: Spools;
  /** Compares the clocks of process and database once more; never rejects. A difference is warned of once. */
  readonly checkClock: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Names this process in leases and slots, and no other at any time. */
export const holderOf = ({ newId }: Pick<FlowEffects, 'newId'>): string => `${hostname()}/${process.pid}/${newId()}`;

/** Opens what runs share; `calls` bounds the calls of this process below what the token allows. */
export async function openInvocation(
  config: Config,
  warehouse: Warehouse,
  effects: FlowEffects,
  calls: number = config.service.inFlight,
): Promise<Invocation> {
  const surely = <T>(work: () => Promise<T>): Promise<T> =>
    retryTransient(work, effects).catch((error: unknown) => {
      throw toUserError(error);
    });
  await surely(() => assertTablesPresent(warehouse));
  const { url, token } = config.service;
  const inFlight = Math.min(calls, config.service.inFlight);
  const client = (effects.openClient ?? openClient)({ url, token, connections: inFlight, now: effects.now });
  const limiter = await surely(() => openTokenLimiter(warehouse, config.service, holderOf(effects), effects));
  const { onNotice } = effects;
  let isWarned = false;
  const warnOfClock = (): void => {
    const message = clockWarning(warehouse.clock);
    if (message === undefined || isWarned) return;
    isWarned = true;
    onNotice({ level: 'warn', message });
  };
  warnOfClock();
  const syncs = config.syncs.map(({ name }) => name);
  const spools = await surely(() => findableSpools({ ...effects, ops: operationsOf(warehouse), syncs }));
  return {
    config,
    warehouse,
    effects,
    client,
    limiter: inFlight < config.service.inFlight ? capped(limiter, inFlight) : limiter,
    logPosition: openLogPosition(),
    inFlight,
    spools,
    checkClock: () => warehouse.clock.check().then(warnOfClock, () => undefined),
    close: async () => {
      await client.close();
      await limiter.close();
    },
  };
}
