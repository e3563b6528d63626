/** What health and metrics are read from. */
import type { Warehouse } from '../warehouse/connect/connect.ts';

/** Jobs of one queue that stand alike. */
export interface QueueDepth {
  /** A name of the program or of the config; never an id. */
  readonly queue: string;
  readonly state: string;
  readonly jobs: number;
}

/** The process that is told of. */
export interface MonitoredProcess {
  readonly warehouse: Pick<Warehouse, 'kind' | 'db' | 'schema' | 'ops'>;
  readonly version: string;
  /** What the process does, such as `worker`. */
  readonly role: string;
  /** Whether it takes nothing new because it is about to end. */
  readonly isDraining: () => boolean;
  /** Why its own loop does not turn any more, in words without secrets; undefined while it does. */
  readonly stuckBecause?: () => string | undefined;
  readonly queues?: () => Promise<readonly QueueDepth[]>;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
