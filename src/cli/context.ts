/** What a command is given to work with: the outside world as functions, so that a test can stand in for it. */
import type { Channel } from './terminal/channel.ts';
import type { Log } from '../telemetry/log.ts';
import type { Redactor } from '../telemetry/redact-secrets.ts';
import type { ProgressStyle } from './terminal/progress.ts';
import type { Ask } from './terminal/question.ts';
import type { StatusLine } from './terminal/status-line.ts';

/** The process, or what stands in for it. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Results go here. */
  readonly out: Channel;
  /** Progress, logs and errors go here. */
  readonly err: Channel;
  /** All of standard input as text. */
  readonly readInput: () => Promise<string>;
  /** Asks the person at the terminal; undefined where there is none. */
  readonly ask: Ask | undefined;
  /** Knows the environment's secrets; commands add those that the config names. */
  readonly redactor: Redactor;
  /** Aborts on the first SIGINT or SIGTERM: nothing new is begun, what is under way ends in order. */
  readonly signal: AbortSignal;
  /** The process's clock; what is stored goes by the warehouse's. */
  readonly now: () => Date;
  /** Milliseconds on a clock that nothing sets; absent, `now` is taken for one. */
  readonly elapsedMs?: () => number;
  /** Stands in for the database's clock. */
  readonly databaseNow?: () => Date;
  readonly random: () => number;
  readonly newId: () => string;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The host, and what the common options make of it. */
export interface Context extends Host {
  /** Name of the command. */
  readonly command: string;
  /** The result is wanted as JSON. */
  readonly json: boolean;
  readonly log: Log;
  readonly progressStyle: ProgressStyle;
  readonly status: StatusLine;
}
