/** A run whose requests have ended: the input of its checks and of its end. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { Run } from '../../ledger/runs.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { RunStop } from './stop-controller.ts';

export interface FinishedRun {
  readonly definition: SyncDefinition;
  readonly run: Run;
  readonly covered: number;
  /** Inputs that rely on answers of earlier runs; undefined if that is unknown, so any input may. */
  readonly reliedInputs?: readonly RequestBody[] | undefined;
  /** What stopped the run; undefined when everything was requested. */
  readonly stop: RunStop | undefined;
  /** The caller's signal fired. */
  readonly aborted?: boolean | undefined;
  /** The run requested only a part of the sync, such as the range of a backfill, so it moves no watermark. */
  readonly isPart?: boolean;
  /** It requested what failed in the runs of all inputs before it. */
  readonly isOfFailed?: boolean;
  readonly limit?: RequestLimit | undefined;
  readonly failOnTruncated?: boolean;
}

/** The limit of requests of a run, with the number of requests that it left out of the plan. */
export interface RequestLimit {
  readonly requests: number;
  readonly leftOut: number;
}
