/** What a config file says once it is read, checked and filled in: the values that every other stage works with. */
import type { Price, Endpoint } from '../service/endpoint.ts';
import type { RequestBody } from '../service/request-body.ts';
import type { SplitBy } from '../service/window/facet-splits.ts';
import type { AlertKind } from './alerts.ts';
import type { Secret } from './values/secret.ts';

export interface Config {
  /** Absolute path of the file. */
  readonly file: string;
  readonly service: ServiceSettings;
  readonly warehouse: WarehouseSettings;
  readonly budget: Budget;
  /** First guesses by endpoint name, over those the endpoints ship with. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Absent when nobody is to be told. */
  readonly alerts?: AlertSettings;
  readonly syncs: readonly SyncDefinition[];
  /** What is allowed but unwise, each with its place in the file. */
  readonly warnings: readonly string[];
}

export interface ServiceSettings {
  /** Origin and path prefix, without a trailing slash. */
  readonly url: string;
  /** Absent when the config's variable is unset; only what sends a request needs it. */
  readonly token: Secret | undefined;
  readonly inFlight: number;
  readonly requestsPerSecond: number;
  /** Paid retries of one request after a transient answer. */
  readonly retries: number;
}

export interface WarehouseSettings {
  /** `embedded:FOLDER` or a postgres:// address, with absolute paths; holds a password, so it is never printed. */
  readonly url: Secret;
  readonly schema: string;
  /** The folder of an embedded warehouse as the config has it, if that is relative. */
  readonly relative?: string;
}

/** Who is told, and of what. At least one of both is there. */
export interface AlertSettings {
  readonly webhook: Secret | undefined;
  /** The program and its arguments. */
  readonly command: readonly string[] | undefined;
  readonly on: readonly AlertKind[];
  /** Open entries of one sync above which an alert is raised. */
  readonly quarantine: number;
  /** How far ahead points are looked at. */
  readonly forecastMs: number;
}

/** Limits in points; absent means none. */
export interface Budget {
  readonly perRun?: number;
  readonly perDay?: number;
  /** Points that are never spent. */
  readonly keep?: number;
  /** What a run with `keep` does while the balance is not known; absent, it refuses. */
  readonly unknownBalance?: 'refuse' | 'spend';
}

export interface SyncDefinition {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Fields set by the config, checked against the contract one by one; fields that inputs bring are absent. */
  readonly request: RequestBody;
  readonly forEach: ForEach | undefined;
  readonly window: Window | undefined;
  readonly splitBy: SplitBy;
  /** The greatest `count` that a full answer is asked again with; absent, it is not asked with more. */
  readonly raiseCountTo: number | undefined;
  /** Names of syncs that run before this one. */
  readonly after: readonly string[];
  /** What was asked within this time is not bought again; absent means that each run asks anew. Inputs may have their own. */
  readonly maxAgeMs: number | undefined;
  /** How far back a later run reads again: of the log before its mark, of a window before its last complete day. */
  readonly lookbackMs: number;
  /** Where the first walk of the request log begins; absent means at its beginning. An RFC 3339 instant. */
  readonly from: string | undefined;
  readonly schedule: { readonly cron: string; readonly timezone: string } | undefined;
  readonly inDoubt: 'reconcile' | 'stop';
  /** Share of rejected items and inputs, 0 to 1, above which a run ends with exit 4. */
  readonly acceptRejects: number;
  /** True where the config itself says what share is accepted; absent, no answer may be unreadable. */
  readonly acceptsUnreadable?: boolean;
  /** Points this sync may spend in one run. */
  readonly budgetPerRun: number | undefined;
  /** Changes when anything that shapes the requests changes; a run is continued only by the same definition. */
  readonly hash: string;
  /**
   * Changes when anything changes that decides what the window of an input holds, and nothing else: how far it was read
   * stays known when the config says otherwise how often, how much at once, or of which other inputs.
   */
  readonly windowHash: string;
}

/** Days are YYYY-MM-DD; `to` is `today` until the plan is made. */
export interface Window {
  readonly from: string;
  readonly to: string;
}

/** Each source brings request fields; several make their cross product. */
export type ForEach = readonly InputSource[];
export type InputSource =
  | {
      readonly from: 'list';
      readonly rows: readonly RequestBody[];
      /** Of rows that have one of their own, the `max_age` in milliseconds, by their place among the rows. */
      readonly maxAgesMs?: ReadonlyMap<number, number>;
    }
  | {
      readonly from: 'file';
      readonly path: string;
      readonly field: string | undefined;
      readonly column: string | undefined;
      readonly where: string;
    }
  | { readonly from: 'query'; readonly sql: string; readonly field: string | undefined; readonly where: string };
