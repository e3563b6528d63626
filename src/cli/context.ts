/** The environment of a command: the process as values and functions, so that tests can replace it. */
import type { Readable } from 'node:stream';
import type { Channel } from './terminal/channel.ts';
import type { Log } from '../telemetry/log.ts';
import type { Redactor } from '../telemetry/redact-secrets.ts';
import type { ProgressStyle } from './terminal/progress.ts';
import type { Ask } from './terminal/question.ts';
import type { StatusLine } from './terminal/status-line.ts';

/** The process, or its replacement in a test. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The channel for results. */
  readonly out: Channel;
  /** The channel for progress, logs and errors. */
  readonly err: Channel;
  /** Standard input. */
  readonly input: Readable;
  /** Asks the user at the terminal; undefined if there is none. */
  readonly ask: Ask | undefined;
  /** Contains the secrets of the environment; commands add those of the config. */
  readonly redactor: Redactor;
  /** Aborts on the first SIGHUP, SIGINT or SIGTERM: no new work starts, and work in progress ends in order. */
  readonly signal: AbortSignal;
  /** The clock of the process. Stored times come from the clock of the warehouse. */
  readonly now: () => Date;
  /** Milliseconds on a monotonic clock (default: `now`). */
  readonly elapsedMs?: () => number;
  /** Replaces the clock of the database in tests. */
  readonly databaseNow?: () => Date;
  readonly random: () => number;
  readonly newId: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The host, with the settings that follow from the common options. */
export interface Context extends Host {
  /** The name of the command. */
  readonly command: string;
  /** True if the result is printed as JSON. */
  readonly json: boolean;
  readonly log: Log;
  readonly progressStyle: ProgressStyle;
  readonly status: StatusLine;
  /** True if the command must neither create nor migrate the schemas. */
  readonly keepsSchema?: boolean;
}
