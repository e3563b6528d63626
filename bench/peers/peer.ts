/** What a peer is to the benchmark: something that brings the answers of a workload into a database. */
import type { Ran } from '../stage/child.ts';
import type { Workload } from '../stage/workload.ts';

/** A peer that is installed, with its version. */
export interface Peer {
  readonly version: string;
  /** Makes what it reads, outside of the time that is measured; returns one load into this database. */
  readonly prepare: (job: Job) => Promise<(databaseUrl: string) => Promise<Ran>>;
  /** Tables of its own bookkeeping, as a pattern; they hold no rows of the answers. */
  readonly bookkeeping: string;
}

export interface Job {
  readonly workload: Workload;
  readonly serviceUrl: string;
  /** Where it may write. */
  readonly folder: string;
}

/** The schema that every peer loads into. */
export const PEER_SCHEMA = 'peer';
