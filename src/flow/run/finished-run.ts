/** A run whose requests have ended: the input of its checks and of its end. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { Run } from '../../ledger/runs.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { RequestLimit } from './limited-run.ts';
import type { RunStop } from './stop-controller.ts';

export interface FinishedRun {
  readonly definition: SyncDefinition;
  readonly run: Run;
  readonly covered: number;
  /** Inputs that rely on answers of earlier runs; undefined if that is unknown, so any input may. */
  readonly reliedInputs?: readonly RequestBody[] | undefined;
  readonly stop: RunStop | undefined;
  /** The run requested only a part of the sync, such as the range of a backfill, so it moves no watermark. */
  readonly isPart?: boolean;
  readonly limit?: RequestLimit | undefined;
}
