/** What the runs of one process share: the client, the token's gate, and what waits on the disk. */
import { hostname } from 'node:os';
import type { Config } from '../config/definition.ts';
import { type Client, openClient } from '../extract/client.ts';
import type { Spool } from '../ops/spool.ts';
import type { Waiting } from '../ops/spool-head.ts';
import type { Notice, Progress } from '../ops/summary.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { assertWhole } from '../warehouse/whole.ts';
import type { OnCheckpoint } from './checkpoint.ts';
import { type Gate, openTokenGate } from './gate.ts';
import { narrowed } from './gate-narrow.ts';
import { type LogPosition, openLogPosition } from './log-position.ts';
import { spooledAnswers } from './spooling.ts';
import { databaseTrouble, steadily } from './steady.ts';
import type { BeginRunSpan } from './tracing.ts';

/** Everything that the flow needs from outside. */
export interface FlowEffects {
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
  readonly gate: Gate;
  /** Where the request log ended when this process read it. */
  readonly logPosition: LogPosition;
  /** Most calls that a run may have under way in this process. */
  readonly inFlight: number;
  /** What waits on the disk by now, of all syncs. */
  readonly spooled: () => Promise<readonly Waiting[]>;
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
    steadily(work, effects).catch((error: unknown) => {
      throw databaseTrouble(error);
    });
  await surely(() => assertWhole(warehouse));
  const { url, token } = config.service;
  const inFlight = Math.min(calls, config.service.inFlight);
  const client = (effects.openClient ?? openClient)({ url, token, connections: inFlight, now: effects.now });
  const gate = await surely(() => openTokenGate(warehouse, config.service, holderOf(effects), effects));
  const { spool, onNotice } = effects;
  const names = config.syncs.map(({ name }) => name);
  return {
    config,
    warehouse,
    effects,
    client,
    gate: inFlight < config.service.inFlight ? narrowed(gate, inFlight) : gate,
    logPosition: openLogPosition(),
    inFlight,
    spooled: async () => (spool ? spooledAnswers({ spool, onNotice }, names) : []),
    close: async () => {
      await client.close();
      await gate.close();
    },
  };
}
