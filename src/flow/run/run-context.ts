/** A run, and what all parts of its execution share. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { BudgetGuard } from '../../control/budget/local-budget.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import type { Limiter } from '../../control/limiter/slot.ts';
import type { Client } from '../../extract/client.ts';
import type { OnCheckpoint } from '../../ledger/kill-points.ts';
import type { Lease } from '../../ledger/lease.ts';
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import type { Run } from '../../ledger/runs.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import type { ResolveLostAnswers } from '../../recovery/reconcile/settle-lost-answers.ts';
import type { SpoolWriter } from '../../recovery/spool/spool.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Effects } from '../effects.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import type { PointsMeter } from '../points/ticket.ts';
import type { SplitEvent } from '../split/split-notices.ts';

export interface RunContext extends Effects {
  readonly warehouse: Warehouse;
  readonly definition: SyncDefinition;
  /** The run; with a chunk, only that chunk is executed. */
  readonly run: Run;
  readonly lease: Lease;
  readonly client: Client;
  readonly retries: number;
  readonly inFlight: number;
  /** Bounds the concurrent calls of the token, and their rate. */
  readonly limiter: Limiter;
  readonly budget: BudgetGuard;
  /** The prices of calls now. */
  readonly prices: () => PriceBook;
  /** Admits calls as far as the log has confirmed the cost of others; absent without a limit in points. */
  readonly meter?: PointsMeter | undefined;
  /** The greatest age of an answer that can serve instead of a new one. */
  readonly maxAgeOf: MaxAgeOf;
  /** When the command began, if its syncs share unreadable answers that were received after that. */
  readonly invokedAt?: Date | undefined;
  /** Most pages of a walk; absent, all of them. */
  readonly maxPages?: number;
  /** Pages after which a walk pauses until the next invocation; absent, more than a day of the log should have. */
  readonly pauseAfterPages?: number | undefined;
  /** False if the limit of requests does not allow this request; absent without a limit. */
  readonly mayBegin?: ((request: Pick<LedgerRequest, 'id' | 'attempts'>) => boolean) | undefined;
  /** Resolves a lost answer before its request is sent again; absent, the request is sent again immediately. */
  readonly resolveLost?: ResolveLostAnswers | undefined;
  /** Keeps an answer that could not be stored; returns the error that ends the run. */
  readonly spoolAnswer?: SpoolWriter | undefined;
  readonly checkpoint?: OnCheckpoint | undefined;
  readonly spans?: Pick<RunSpans, 'attempt' | 'load'> | undefined;
  /** Called with the number of requests that paging and splitting added. */
  readonly onPlanned: (requests: number) => void;
  readonly onSplit?: ((split: SplitEvent) => void) | undefined;
  /** Called before each call; the returned function is called after it. */
  readonly onSent: (sentAt: Date) => () => void;
  /**
   * Called before each wait for the next attempt, with the status of the failed one if the service answered; the returned
   * function is called after it.
   */
  readonly onWait: (afterMs: number, status: number | undefined) => () => void;
  /** Called for a lost answer; `again` if its request is sent again, which may be charged twice. */
  readonly onLostAnswer: (because: string, again: boolean) => void;
  readonly onLoaded: (result: IngestResult) => void;
  /** Called after each request that ended, with its written rows and points. */
  readonly onEnded: (rows: number, points: number) => void;
}
