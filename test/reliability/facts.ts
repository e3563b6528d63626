/**
 * The facts of a finished scenario: what the service received, how the ledger and the leases changed, and what the
 * tables hold.
 */

/** A request as it reached the service. */
export interface Arrival {
  readonly number: number;
  readonly atMs: number;
  readonly endpoint: string;
  readonly requestKey: string;
  /** The `x-request-id` that it carried. */
  readonly xRequestId: string;
  /** Digest of the body that the service sent; null if it sent none. */
  readonly sha256: string | null;
  readonly cost: number;
}

/** A row of the ledger at the end. */
export interface Entry {
  readonly id: string;
  readonly runId: string;
  readonly sync: string;
  readonly requestKey: string;
  readonly xRequestId: string | null;
  readonly state: string;
  readonly attempts: number;
  /** Number of follow-up requests, from its answer or because it was split. */
  readonly parts: number;
  /** A request of the log to resolve lost answers; it is abandoned instead of repeated. */
  readonly isLogReading: boolean;
}

/** A change of a row of the ledger; `from` is null for its first state. */
export interface Move {
  readonly atMs: number;
  readonly entryId: string;
  readonly from: string | null;
  readonly to: string;
  /** Attempts after the change. */
  readonly attempts: number;
}

/** A change of a lease: acquired, renewed, released or set to expired. */
export interface LeaseMove {
  readonly atMs: number;
  readonly name: string;
  readonly holder: string;
  readonly token: number;
  readonly expiresAtMs: number;
}

export interface StoredAnswer {
  readonly id: string;
  readonly entryId: string;
  readonly requestKey: string;
  readonly storedAtMs: number;
  readonly receivedAtMs: number;
  /** The recorded digest, and the digest of the stored bytes. */
  readonly sha256: string;
  readonly sha256OfBytes: string;
  readonly loaded: boolean;
  readonly counts: Readonly<Record<'received' | 'loaded' | 'unchanged' | 'superseded' | 'quarantined', number>>;
  /** Items in its bytes, and its items in quarantine. */
  readonly items: number;
  readonly rejects: number;
  /** The rows that its bytes contain: table and key. */
  readonly tells: ReadonlySet<string>;
}

/** A row of an analyst table that names its answer. */
export interface Row {
  /** Table and key, written as in `StoredAnswer.tells`. */
  readonly row: string;
  readonly answerId: string;
}

export interface LostAttempt {
  readonly entryId: string;
  readonly attempt: number;
}

/** A request in the log of the service, or in the table of costs. */
export interface Logged {
  readonly path: string;
  readonly xRequestId: string;
  readonly cost: number;
}

export interface Facts {
  readonly arrivals: readonly Arrival[];
  readonly entries: readonly Entry[];
  readonly moves: readonly Move[];
  readonly leases: readonly LeaseMove[];
  /** Only one process can have the warehouse open, so the previous holder of a lease is dead. */
  readonly soleOwner: boolean;
  readonly answers: readonly StoredAnswer[];
  readonly rows: readonly Row[];
  /** Attempts that are listed as lost. */
  readonly lostAnswers: readonly LostAttempt[];
  /** The service's log, and the table of costs; both empty if no sync reads the log. */
  readonly log: readonly Logged[];
  readonly costs: readonly Logged[];
  /** How long an answer of a sync is fresh; absent, only its own run may not repeat the request. */
  readonly maxAgeMs: Readonly<Record<string, number>>;
  /** Most answers that the disturbances can have lost: calls in flight, once for each kill, and disturbed answers. */
  readonly mostLost: number;
  /** Tables that differ from those of the undisturbed run. */
  readonly differing: readonly string[];
}
