/** What all runs of one process share: the client, the token's limiter and the spools. */
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
import type { Effects } from '../effects.ts';
import { toUserError, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { BeginRunSpan } from '../../telemetry/tracing.ts';
import { holderOf } from '../../control/lease/holder.ts';

/** Everything that the flow needs from outside. */
export interface FlowEffects extends Effects {
  readonly onProgress: (progress: Progress) => void;
  readonly onNotice: (notice: Notice) => void;
  /** Called at each point where the death of the process must be survivable. */
  readonly checkpoint?: OnCheckpoint;
  /** Stores answers that the database could not take; without a spool they are lost. */
  readonly spool?: Spool;
  /** Folders in which an earlier version may have kept answers. */
  readonly formerSpools?: readonly string[];
  /** Starts the trace of a run; absent, runs are not traced. */
  readonly beginSpan?: BeginRunSpan;
  /** Pages after which a walk of the request log pauses; absent, the usual number. For tests. */
  readonly pauseAfterPages?: number;
  /** Replaces the real client, for tests. */
  readonly openClient?: typeof openClient;
}

export interface Invocation {
  readonly config: Config;
  readonly warehouse: Warehouse;
  readonly effects: FlowEffects;
  readonly client: Client;
  readonly limiter: Limiter;
  /** The end of the request log when this process read it. */
  readonly logPosition: LogPosition;
  /** Most concurrent calls of a run in this process. */
  readonly inFlight: number;
  /** The spools that can be found, of all syncs. */
  readonly spools: Spools;
  /** Compares the clocks of process and database again; never rejects. It warns of a difference once. */
  readonly checkClock: () => Promise<void>;
  /** The end of the last long wait that was reported, by the name of the endpoint. */
  readonly waitReportedUntil: Map<string, Date>;
  readonly close: () => Promise<void>;
}

/**
 * Opens what the runs share. `calls` bounds the concurrent calls of this process below the token's limit. Throws a
 * SchemaError if tables are missing.
 */
export async function openInvocation(
  config: Config,
  warehouse: Warehouse,
  effects: FlowEffects,
  calls: number = config.service.inFlight,
): Promise<Invocation> {
  const withRetries = <T>(work: () => Promise<T>): Promise<T> =>
    retryTransient(work, effects).catch((error: unknown) => {
      throw toUserError(error);
    });
  await withRetries(() => assertTablesPresent(warehouse));
  const { url, token } = config.service;
  const inFlight = Math.min(calls, config.service.inFlight);
  const client = (effects.openClient ?? openClient)({ url, token, connections: inFlight, now: effects.now });
  const limiter = await withRetries(() => openTokenLimiter(warehouse, config.service, holderOf(effects), effects));
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
  const spools = await withRetries(() => findableSpools({ ...effects, ops: operationsOf(warehouse), syncs }));
  return {
    config,
    warehouse,
    effects,
    client,
    limiter: inFlight < config.service.inFlight ? capped(limiter, inFlight) : limiter,
    logPosition: openLogPosition(),
    inFlight,
    spools,
    waitReportedUntil: new Map(),
    checkClock: () => warehouse.clock.check().then(warnOfClock, () => undefined),
    close: async () => {
      await client.close();
      await limiter.close();
    },
  };
}
