/** What sending a request needs, and an attempt that was sent. */
import type { AnsweredOutcome, Outcome } from '../../extract/outcome.ts';
import type { RetryPolicy } from '../../extract/retry.ts';
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import type { RequestToSend } from '../../ledger/requests/store-and-record-sent.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { Admission } from './admission.ts';
import type { Breaker } from './circuit-breaker.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Reservation, Reservations } from '../../control/budget/reservations.ts';
import type { Effects } from '../effects.ts';
import type { RunContext } from '../run/run-context.ts';

/** A request with the id that its attempts carry. */
export interface SentRequest extends LedgerRequest {
  readonly xRequestId: string;
}

export interface SendContext
  extends Effects,
    Pick<
      RunContext,
      'client' | 'limiter' | 'meter' | 'lease' | 'onSent' | 'onWait' | 'onLostAnswer' | 'checkpoint' | 'spans'
    > {
  readonly endpoint: Endpoint;
  readonly policy: RetryPolicy;
  /** Earlier invocations that ended without an answer. */
  readonly lostInvocations: number;
  /** Whether the service has answered another request of the run in this invocation. */
  readonly endpointAnswered: () => boolean;
  /** Returns the cost of the latest lost attempt; undefined if it cannot be known. */
  readonly findCost: () => Promise<number | undefined>;
  readonly reservations: Reservations;
  /** The most points that this request can cost at current prices. */
  readonly most: () => number;
  /** The receipt times of answers that serve this request now; undefined if none may. */
  readonly freshWithin: () => RequestToSend['fresh'];
  /** Commits that the request is about to be sent, together with or after all answers passed to `store`. */
  readonly commits: Pick<GroupCommit, 'recordSent'>;
  /** Commits the answer's bytes and returns its id. The load settles the cost later. */
  readonly store: (request: SentRequest, answer: AnsweredOutcome, reservation: Reservation) => Promise<string>;
  readonly ops: Ops;
  readonly breaker: Breaker;
  /** Called when nothing more may be sent in this run, before that is recorded. */
  readonly onStop: () => void;
}

export interface Sent extends Admission {
  readonly outcome: Outcome;
}
