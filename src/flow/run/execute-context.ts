/** What the execution of a run needs. */
import type { BudgetGuard } from '../../control/budget/local-budget.ts';
import type { Limiter } from '../../control/limiter/slot.ts';
import type { Client } from '../../extract/client.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import type { ResolveLostAnswers } from '../../recovery/reconcile/lost-answers.ts';
import type { PointsMeter } from '../points/ticket.ts';
import type { StoreContext } from './store-answers.ts';

export interface ExecuteContext extends StoreContext {
  readonly client: Client;
  readonly retries: number;
  readonly inFlight: number;
  readonly budget: BudgetGuard;
  readonly limiter: Limiter;
  /** Enforces limits in true points; absent without such a limit. */
  readonly meter?: PointsMeter | undefined;
  readonly onLostAnswer: (because: string, again: boolean) => void;
  /** Resolves a lost answer before its request is sent again; absent, the request is sent again immediately. */
  readonly resolveLost?: ResolveLostAnswers | undefined;
  /** False if the limit of requests does not allow this request; absent without a limit. */
  readonly mayBegin?: ((request: Pick<LedgerRequest, 'id' | 'attempts'>) => boolean) | undefined;
  readonly onSent: (sentAt: Date) => () => void;
  /** Called after each request that ended, with its written rows and points. */
  readonly onEnded: (rows: number, points: number) => void;
}
