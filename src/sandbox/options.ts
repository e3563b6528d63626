/** The options of a sandbox. */
import { randomUUID } from 'node:crypto';
import type { Fault } from './fault.ts';
import type { Price } from '../service/endpoint.ts';
import { UsageError } from '../errors.ts';
import { SANDBOX_TOKEN } from './world/known.ts';
import { type Size, type SizeName, sizeOf } from './world/size.ts';

export interface SandboxOptions {
  /** The default, 0, selects a free port. */
  readonly port?: number;
  /** The default is 127.0.0.1, so only this machine can connect. */
  readonly host?: string;
  /** Equal seeds give equal worlds and equal faults. */
  readonly seed?: number;
  readonly size?: SizeName | Partial<Size>;
  /** The only accepted token. */
  readonly token?: string;
  /** The initial balance; the default, `Infinity`, never runs out. */
  readonly points?: number;
  /** Prices by endpoint name, instead of the guessed ones. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly faults?: readonly Fault[];
  readonly now?: () => Date;
  /** Creates UUIDs for logged requests and for requests without an identifier. */
  readonly newId?: () => string;
  /** The delay of each answer, in milliseconds; a function gets the request's number, from 1. */
  readonly latencyMs?: number | ((requestNumber: number) => number);
  readonly logOrder?: 'descending' | 'ascending';
  /** Whether a page of the log begins at the cursor's row or after it. */
  readonly logCursor?: 'inclusive' | 'exclusive';
  /** Overrides the world's answer if it returns a value. The request is still priced and logged. */
  readonly respond?: Respond;
}

export interface RespondRequest {
  readonly endpoint: string;
  readonly body: unknown;
  /** The number of the request, from 1, among all that the sandbox received. */
  readonly number: number;
}

export interface Responded {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or buffer is sent unchanged, any other value as JSON. */
  readonly body: unknown;
}

export type Respond = (request: RespondRequest) => Responded | undefined | Promise<Responded | undefined>;

export interface Settings extends Required<Omit<SandboxOptions, 'size' | 'latencyMs' | 'respond'>> {
  readonly size: Size;
  readonly latencyMs: (requestNumber: number) => number;
  readonly respond: Respond;
}

/** The options with all defaults. Throws a UsageError for an invalid size, balance or latency. */
export function settingsOf(options: SandboxOptions): Settings {
  const { latencyMs = 0, size, ...given } = options;
  notNegative('points', given.points);
  notNegative('latency', typeof latencyMs === 'number' ? latencyMs : undefined);
  return {
    port: 0,
    host: '127.0.0.1',
    seed: 1,
    token: SANDBOX_TOKEN,
    points: Number.POSITIVE_INFINITY,
    prices: {},
    faults: [],
    now: () => new Date(),
    newId: randomUUID,
    logOrder: 'descending',
    logCursor: 'exclusive',
    respond: () => undefined,
    ...given,
    size: sizeOf(size),
    latencyMs: typeof latencyMs === 'number' ? () => latencyMs : latencyMs,
  };
}

function notNegative(name: string, value: number | undefined): void {
  if (value === undefined || value >= 0) return;
  throw new UsageError(`The sandbox option ${name} is ${value}; allowed is 0 or more.`);
}
