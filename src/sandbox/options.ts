/** How a sandbox is set up. */
import { randomUUID } from 'node:crypto';
import type { Fault } from './fault.ts';
import type { Price } from '../service/endpoint.ts';
import { UsageError } from '../errors.ts';
import { SANDBOX_TOKEN } from './world/known.ts';
import { type Size, type SizeName, sizeOf } from './world/size.ts';

export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** The default is 127.0.0.1: the sandbox is for this machine. */
  readonly host?: string;
  /** Equal seeds make equal worlds and equal faults. */
  readonly seed?: number;
  readonly size?: SizeName | Partial<Size>;
  /** The one token that is accepted. */
  readonly token?: string;
  /** The balance at the start; `Infinity`, the default, never runs out. */
  readonly points?: number;
  /** Prices by endpoint name, in the place of those that are guessed. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly faults?: readonly Fault[];
  readonly now?: () => Date;
  /** Makes UUIDs: of logged requests, and of requests that came without an identifier. */
  readonly newId?: () => string;
  /** How long each answer takes, in milliseconds; a function gets the request's number, from 1. */
  readonly latencyMs?: number | ((requestNumber: number) => number);
  readonly logOrder?: 'descending' | 'ascending';
  /** Whether a page of the log begins at the row that the cursor names, or after it. */
  readonly logCursor?: 'inclusive' | 'exclusive';
  /** Answers in the world's stead where it returns something; the request is priced and logged all the same. */
  readonly respond?: Respond;
}

export interface RespondRequest {
  readonly endpoint: string;
  readonly body: unknown;
  /** The n-th request that reached the sandbox, from 1. */
  readonly number: number;
}

export interface Responded {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or a buffer is sent as it is, anything else as JSON. */
  readonly body: unknown;
}

export type Respond = (request: RespondRequest) => Responded | undefined | Promise<Responded | undefined>;

export interface Settings extends Required<Omit<SandboxOptions, 'size' | 'latencyMs' | 'respond'>> {
  readonly size: Size;
  readonly latencyMs: (requestNumber: number) => number;
  readonly respond: Respond;
}

/** The options with every default filled in. Throws a UsageError when a size, the points or the latency is none. */
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
  throw new UsageError(`The sandbox's ${name} can't be ${value}: 0 or more is allowed.`);
}
