/** One request to make, known by its key before it is made. */
import type { RequestBody } from '../service/request-body.ts';

export interface Task {
  /** SHA-256, in hex, of the endpoint and the canonical body; the ledger holds it once a run. */
  readonly requestKey: string;
  /** Canonical: defaults filled in, without `timeout`. What rows and hashes are made from. */
  readonly request: RequestBody;
  /** What is sent: the fields that the config or the input set, and what paging adds. */
  readonly body: RequestBody;
  /** The fields that this task's input brought; empty for a sync without `for_each`. */
  readonly input: RequestBody;
  /** How many times the question was cut before this slice. */
  readonly depth: number;
}
