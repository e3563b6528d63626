/**
 * The service's side of one request: token, contract, points, work and log, in this order, with an injected fault. The
 * caller sends the reply.
 */
import type { RequestBody } from '../service/request-body.ts';
import { maxGuessedPoints, type Endpoint, pointsFor } from '../service/endpoint.ts';
import type { Account } from './account.ts';
import { answerOf } from './answers.ts';
import type { Arrival } from './arrival.ts';
import type { Fault, FaultEffect, FaultPlan } from './fault.ts';
import type { Settings } from './options.ts';
import { errorTextOf, type SandboxOutcome, outcomeOf, refused, replaced } from './outcome.ts';
import { broken } from './refusal.ts';
import type { LogQuery, RequestLog } from './request-log.ts';
import type { Reply } from './send.ts';
import type { Validated } from './validate.ts';
import type { World } from './world/world.ts';
import { LOG_ENDPOINT } from '../service/request-log/request-log.ts';

/** The parts of the sandbox that an exchange needs. */
export interface Service {
  readonly settings: Settings;
  readonly world: World;
  readonly account: Account;
  readonly log: RequestLog;
  readonly plan: () => FaultPlan;
  readonly closing: AbortSignal;
  /** Rejects when the sandbox closes. */
  readonly sleep: (waitMs: number) => Promise<void>;
}

/** A received request for an endpoint. */
export interface SandboxCall {
  readonly arrival: Arrival;
  readonly endpoint: Endpoint;
  readonly token: string | undefined;
  readonly validated: Validated;
}

export interface SandboxExchange {
  readonly reply: Reply;
  readonly effect: FaultEffect | undefined;
}

const NOTHING: SandboxExchange = {
  reply: { status: 0, headers: {}, body: Buffer.alloc(0) },
  effect: { kind: 'reset', stage: 'before' },
};

/**
 * Answers one request. Its row in the log is complete before the answer is sent, so a client that has the answer finds
 * the row. Rejects if the sandbox closes in the meantime.
 */
export async function exchange(service: Service, call: SandboxCall): Promise<SandboxExchange> {
  const { settings, account } = service;
  const { arrival, endpoint } = call;
  const fault = service.plan()(endpoint.name, arrival.body);
  if (fault) arrival.fault = fault.do.kind;
  if (fault?.do.kind === 'reset' && fault.do.stage === 'before') return NOTHING;
  if (fault?.do.kind === 'out_of_points') account.exhaust(fault.do.status);
  if (fault?.do.kind === 'revoked') account.revoke();

  const hasToken = call.token === settings.token;
  const complete = hasToken && !isLog(endpoint) ? begin(service, arrival, endpoint) : () => undefined;
  const outcome = await work(service, call, fault).catch((error: unknown) => {
    if (service.closing.aborted) throw error;
    return refused(broken(error));
  });
  arrival.cost = outcome.cost;
  arrival.count = outcome.count;
  const endedAt = settings.now();
  const pointsLeft = Number.isFinite(account.left()) ? account.left() : null;
  const executionSeconds = (endedAt.getTime() - arrival.arrivedAt.getTime()) / 1000;
  complete(
    {
      cost: outcome.cost,
      pointsLeft,
      status: outcome.status,
      count: outcome.count,
      errorText: errorTextOf(outcome),
      executionSeconds,
      tokenExpired: account.isRevoked(),
      pointsRunOut: outcome.headers['x-error'] === 'points_limit_exhausted',
    },
    endedAt,
  );
  const headers = {
    'content-type': 'application/json',
    'x-request-id': arrival.xRequestId,
    'x-execution-time': executionSeconds.toFixed(3),
    ...(pointsLeft !== null && hasToken && { 'x-token-points': String(pointsLeft) }),
    ...outcome.headers,
  };
  return { reply: { status: outcome.status, headers, body: outcome.body }, effect: fault?.do };
}

const begin = ({ settings, log }: Service, arrival: Arrival, endpoint: Endpoint): ReturnType<RequestLog['begin']> =>
  log.begin({
    id: settings.newId(),
    path: endpoint.path,
    xRequestId: arrival.xRequestId,
    timeout: timeoutOf(arrival.body),
    startedAt: arrival.arrivedAt,
  });

/** The answer and its price. Points are reserved before the work and settled after it. */
async function work(service: Service, call: SandboxCall, fault: Fault | undefined): Promise<SandboxOutcome> {
  const { account, settings, sleep } = service;
  const { arrival, endpoint, validated } = call;
  const refusal = account.refuses(call.token);
  if (refusal) return refused(refusal);
  if ('refusal' in validated) return refused(validated.refusal);
  const price = settings.prices[endpoint.name] ?? endpoint.price;
  const most = maxGuessedPoints(price, validated.request);
  const reserved = account.reserve(most);
  if ('refusal' in reserved) return refused(reserved.refusal);
  let cost = 0;
  try {
    const waitMs = settings.latencyMs(arrival.number) + (fault?.do.kind === 'slow' ? fault.do.ms : 0);
    if (waitMs > 0) await sleep(waitMs);
    const outcome = (fault && replaced(fault.do)) ?? (await answered(service, call, validated.request));
    const billed = fault?.billed ?? outcome.status === 200;
    cost = billed ? Math.min(most, pointsFor(price, outcome.count ?? 1)) : 0;
    return { ...outcome, cost };
  } finally {
    reserved.settle(cost);
  }
}

/** The answer of the test's hook, of the log or of the world. */
async function answered(
  { settings, world, log }: Service,
  call: SandboxCall,
  request: RequestBody,
): Promise<SandboxOutcome> {
  const { arrival, endpoint } = call;
  const responded = await settings.respond({ endpoint: endpoint.name, body: arrival.body, number: arrival.number });
  if (responded) return outcomeOf(responded.status ?? 200, responded.body, responded.headers);
  if (isLog(endpoint)) return outcomeOf(200, log.list(request as unknown as LogQuery));
  const answer = answerOf(world, endpoint, request, arrival.number);
  return 'refusal' in answer ? refused(answer.refusal) : outcomeOf(200, answer.items);
}

/** Requests for the log cost nothing and do not appear in it. */
const isLog = (endpoint: Endpoint): boolean => endpoint.name === LOG_ENDPOINT;

function timeoutOf(body: unknown): number | null {
  const timeout = body !== null && typeof body === 'object' && 'timeout' in body ? body.timeout : undefined;
  return typeof timeout === 'number' && Number.isInteger(timeout) ? timeout : DEFAULT_TIMEOUT;
}
const DEFAULT_TIMEOUT = 300;
