/** The process that health and metrics describe. */
import type { Warehouse } from '../warehouse/connect/connect.ts';

/** The number of jobs of one queue in one state. */
export interface QueueDepth {
  /** A name of the program or of the config; never an id. */
  readonly queue: string;
  readonly state: string;
  readonly jobs: number;
}

export interface MonitoredProcess {
  readonly warehouse: Pick<Warehouse, 'kind' | 'db' | 'schema' | 'ops'>;
  readonly version: string;
  /** What the process does, such as `worker`. */
  readonly role: string;
  /** True if the process is ending and accepts no new work. */
  readonly isDraining: () => boolean;
  /** The tags that the config names; points of other tags are added up as `(other)`. */
  readonly tags?: readonly { readonly tag: string; readonly value: string }[];
  readonly queues?: () => Promise<readonly QueueDepth[]>;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
