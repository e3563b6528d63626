/** The types of a checked config, with defaults and variables filled in. Every other stage works with these values. */
import type { Price, Endpoint } from '../service/endpoint.ts';
import type { RequestBody } from '../service/request-body.ts';
import type { SplitBy } from '../service/window/facet-splits.ts';
import type { AlertKind } from './alerts.ts';
import type { ConfigError } from './document/problem.ts';
import type { OptionalSetting } from './optional.ts';
import type { AgeBounds } from './values/max-age.ts';
import type { CheckDefinition } from './checks.ts';
import type { Secret } from './values/secret.ts';
import type { Tags } from './values/tags.ts';

export interface Config {
  /** Absolute path of the file. */
  readonly file: string;
  readonly service: ServiceSettings;
  readonly warehouse: WarehouseSettings;
  readonly budget: Budget;
  /** First guesses at prices by endpoint name. They override the guesses of the endpoints. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Absent if the config names no receiver of alerts. */
  readonly alerts?: AlertSettings;
  readonly syncs: readonly SyncDefinition[];
  /** Warnings about allowed but risky settings, each with its position in the file. */
  readonly warnings: readonly string[];
  /** Optional settings whose variables have no valid value. Absent if there are none. */
  readonly unusable?: UnusableSettings;
}

/** These settings have no usable value in the config. Commands that use one of them throw the error. */
export interface UnusableSettings {
  readonly settings: readonly OptionalSetting[];
  readonly error: ConfigError;
}

export interface ServiceSettings {
  /** Origin and path prefix, without a trailing slash. */
  readonly url: string;
  /** Undefined if the variable in the config is unset or unusable. Only commands that send requests need it. */
  readonly token: Secret | undefined;
  readonly inFlight: number;
  readonly requestsPerSecond: number;
  /** Paid retries of one request after a transient answer. */
  readonly retries: number;
}

export interface WarehouseSettings {
  /**
   * `embedded:FOLDER` or a postgres:// address, with absolute paths. It may contain a password, so it is never printed.
   */
  readonly url: Secret;
  readonly schema: string;
  /** The folder of an embedded warehouse as written in the config, if that is a relative path. */
  readonly relative?: string;
}

/** The receivers of alerts and the conditions. At least one of `webhook` and `command` is defined. */
export interface AlertSettings {
  readonly webhook: Secret | undefined;
  /** The program and its arguments. */
  readonly command: readonly string[] | undefined;
  readonly on: readonly AlertKind[];
  /** An alert is raised if a sync has more open quarantine entries than this. */
  readonly quarantine: number;
  /** How far ahead the forecast of points looks. */
  readonly forecastMs: number;
}

/** Limits in points. An absent key means no limit. */
export interface Budget {
  readonly perRun?: number;
  /** Per UTC day. */
  readonly perDay?: number;
  /** Per calendar month, in UTC. */
  readonly perMonth?: number;
  /** Limits of the syncs with a tag. */
  readonly tags?: readonly TagBudget[];
  /** Points that are never spent. */
  readonly keep?: number;
  /** The behavior of a run with `keep` while the balance is unknown (default: refuse). */
  readonly unknownBalance?: 'refuse' | 'spend';
}

/** Limits in points of all syncs with one tag. */
export interface TagBudget extends Pick<Budget, 'perDay' | 'perMonth'> {
  readonly tag: string;
  readonly value: string;
}

export interface SyncDefinition {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Fields that the config sets, each checked against the contract. Fields that inputs provide are absent. */
  readonly request: RequestBody;
  readonly forEach: ForEach | undefined;
  readonly window: Window | undefined;
  readonly splitBy: SplitBy;
  /** The largest `count` for requesting a full answer again; undefined if the count is never raised. */
  readonly raiseCountTo: number | undefined;
  /** Names of syncs that run before this one. */
  readonly after: readonly string[];
  /**
   * An answer younger than this is not bought again; undefined if each run requests anew. An input may have its own.
   */
  readonly maxAgeMs: number | undefined;
  /** The bounds of an age that is learned for each request, at most `maxAgeMs`; undefined if the age is fixed. */
  readonly autoAge?: AgeBounds | undefined;
  /**
   * How far back a later run reads again: before the watermark of the log, or before the last complete day of a window.
   */
  readonly lookbackMs: number;
  /** Where the first walk of the request log begins, as an RFC 3339 instant; undefined for the beginning of the log. */
  readonly from: string | undefined;
  readonly schedule: { readonly cron: string; readonly timezone: string } | undefined;
  readonly inDoubt: 'reconcile' | 'stop';
  /** Share of rejected items and inputs, 0 to 1, above which a run ends with exit 4. */
  readonly acceptRejects: number;
  /** True if the config sets the accepted share. Otherwise no answer may be unreadable. */
  readonly acceptsUnreadable?: boolean;
  /** Points this sync may spend in one run. */
  readonly budgetPerRun: number | undefined;
  /** Values by the names of tags. Costs are added up by them, and budgets may limit them. */
  readonly tags: Tags;
  /** Limit of concurrent requests of this sync, which then runs in one process; undefined for that of the service. */
  readonly inFlight?: number | undefined;
  /** The checks of the data after a run; absent if there are none. */
  readonly checks?: readonly CheckDefinition[] | undefined;
  /**
   * Changes when a setting that affects the requests changes, and not when the same filters are written in another order
   * or with their defaults. Only the same definition continues a run.
   */
  readonly hash: string;
  /**
   * Changes only when a setting changes that decides which items the window of an input contains. A change of the
   * schedule, the count, the order of a list or the other inputs keeps the watermarks.
   */
  readonly windowHash: string;
  /** The same digest of the filters as written, which earlier versions used; absent if there was none. */
  readonly formerWindowHash?: string;
}

/** Days are YYYY-MM-DD; `to` is `today` until the plan is made. */
export interface Window {
  readonly from: string;
  readonly to: string;
}

/** The sources of inputs. Each provides request fields; several sources make their cross product. */
export type ForEach = readonly InputSource[];
export type InputSource =
  | {
      readonly from: 'list';
      readonly rows: readonly RequestBody[];
      /** The `max_age` in milliseconds of rows that have their own, by the index of the row. */
      readonly maxAgesMs?: ReadonlyMap<number, number>;
      readonly where: string;
    }
  | {
      readonly from: 'file';
      readonly path: string;
      /** Reads the text from elsewhere than the path, such as an earlier revision; undefined for the file itself. */
      readonly read?: () => AsyncIterable<string>;
      readonly field: string | undefined;
      readonly column: string | undefined;
      readonly where: string;
    }
  | { readonly from: 'query'; readonly sql: string; readonly field: string | undefined; readonly where: string };
