/** What is known of a scenario once it is over: what the service saw, what the ledger and the leases went through, what the tables hold. */

/** A request as it reached the service. */
export interface Arrival {
  readonly number: number;
  readonly atMs: number;
  readonly endpoint: string;
  readonly requestKey: string;
  /** The `x-request-id` that it carried. */
  readonly requestId: string;
  /** Of the body that the service meant to send; null when it sent none. */
  readonly sha256: string | null;
  readonly cost: number;
}

/** A row of the ledger as it stands at the end. */
export interface Entry {
  readonly id: string;
  readonly runId: string;
  readonly sync: string;
  readonly requestKey: string;
  readonly requestId: string | null;
  readonly state: string;
  readonly attempts: number;
  /** Requests that its answer, or its being cut unasked, led to. */
  readonly parts: number;
  /** Asked of the log to find out about lost answers: given up rather than asked until it is answered. */
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

/** A change of a lease: taken, renewed, given back or declared expired. */
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
  /** As the vault says, and as its bytes are. */
  readonly sha256: string;
  readonly sha256OfBytes: string;
  readonly loaded: boolean;
  readonly counts: Readonly<Record<'received' | 'loaded' | 'unchanged' | 'superseded' | 'quarantined', number>>;
  /** Items in its bytes, and items of it in quarantine. */
  readonly items: number;
  readonly rejects: number;
  /** The rows that its bytes tell of: table and key. */
  readonly tells: ReadonlySet<string>;
}

/** A row of an analyst table that names its answer. */
export interface Row {
  /** Table and key, written as in `StoredAnswer.tells`. */
  readonly row: string;
  readonly answerId: string;
}

export interface Doubt {
  readonly entryId: string;
  readonly attempt: number;
}

/** A request as the log of the service, or the table made from it, tells it. */
export interface Logged {
  readonly path: string;
  readonly requestId: string;
  readonly cost: number;
}

export interface Facts {
  readonly arrivals: readonly Arrival[];
  readonly entries: readonly Entry[];
  readonly moves: readonly Move[];
  readonly leases: readonly LeaseMove[];
  /** Only one process can have the warehouse open: whoever takes a lease over there, its holder is dead. */
  readonly soleOwner: boolean;
  readonly answers: readonly StoredAnswer[];
  readonly rows: readonly Row[];
  /** Attempts that are listed as lost. */
  readonly doubts: readonly Doubt[];
  /** The service's log, and the table of costs; both empty when no sync reads the log. */
  readonly log: readonly Logged[];
  readonly costs: readonly Logged[];
  /** How long an answer of a sync is fresh; absent, only its own run may not ask again. */
  readonly maxAgeMs: Readonly<Record<string, number>>;
  /** Most answers that the disturbances can have lost: calls in flight, once for each death, and answers spoiled on their way. */
  readonly mostLost: number;
  /** Tables in which the warehouse differs from that of the undisturbed run. */
  readonly differing: readonly string[];
}
