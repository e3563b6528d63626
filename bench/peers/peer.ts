/** The type of a peer: a program that loads the answers of a workload into a database. */
import type { Ran } from '../stage/child.ts';
import type { Workload } from '../stage/workload.ts';

/** An installed peer. */
export interface Peer {
  readonly version: string;
  /** Writes the input files of the peer before the measurement; returns a function that runs one load into a database. */
  readonly prepare: (job: Job) => Promise<(databaseUrl: string) => Promise<Pick<Ran, 'wallMs'>>>;
  /** A pattern of the peer's internal tables, which hold no rows of the answers. */
  readonly bookkeeping: string;
}

export interface Job {
  readonly workload: Workload;
  readonly serviceUrl: string;
  /** The folder for its files. */
  readonly folder: string;
}

/** The schema that every peer loads into. */
export const PEER_SCHEMA = 'peer';
