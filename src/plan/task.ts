/** One request, identified by its key before it is sent. */
import type { RequestBody } from '../service/request-body.ts';

export interface Task {
  /** SHA-256, in hex, of the endpoint and the canonical body; unique within a run of the ledger. */
  readonly requestKey: string;
  /** Canonical: defaults filled in, without `timeout`. Rows and hashes are made from it. */
  readonly request: RequestBody;
  /** The body to send: the fields of the config and the input, and those that paging adds. */
  readonly body: RequestBody;
  /** The fields of this task's input; empty for a sync without `for_each`. */
  readonly input: RequestBody;
  /** How many times the question was split before this slice. */
  readonly depth: number;
}
