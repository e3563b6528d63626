/** Delivers alerts: posts them to the webhook of the config, and runs its command with them. */
import type { AlertSettings } from '../config/definition.ts';
import type { AlertChannel } from './store.ts';
import type { AlertPayload } from './payload.ts';
import { spawn } from 'node:child_process';
import { withTimeout } from '../async/with-timeout.ts';
import { Agent, request } from 'undici';
import type { Secret } from '../config/values/secret.ts';

/** Whether the channel accepted the alert; if not, the reason. A channel that did not answer in time may have accepted it. */
type Delivery =
  | { readonly ok: true }
  | { readonly ok: false; readonly because: string; readonly mayHaveArrived: boolean };

/** The longest time that a run waits for a channel. */
const DELIVERY_LIMIT_MS = 10_000;

const failed = (because: string, mayHaveArrived = false): Delivery => ({ ok: false, because, mayHaveArrived });

export interface DeliveryEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
}

interface DeliveryChannel {
  readonly name: AlertChannel;
  /** Settles within seconds and never rejects. */
  readonly send: (payload: AlertPayload) => Promise<Delivery>;
}

/** The channels that the config names. */
export function channelsOf({ webhook, command }: AlertSettings, effects: DeliveryEffects): DeliveryChannel[] {
  return [
    ...(webhook ? [{ name: 'webhook' as const, send: openWebhook(webhook, effects) }] : []),
    ...(command ? [{ name: 'command' as const, send: openProgram(command, effects) }] : []),
  ];
}

/**
 * A function that delivers an alert to the program. The program runs without a shell, in a process group that ends with
 * it. It gets the environment without the variables that contain a secret of the config.
 */
const openProgram =
  ([program = '', ...words]: readonly string[], { sleep, env, redact }: DeliveryEffects) =>
  async (payload: AlertPayload): Promise<Delivery> => {
    const child = spawn(program, words, {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: withoutSecrets(env, redact),
    });
    const ends = new Promise<Delivery>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        resolve(failed(`the command can’t be run (${error.code ?? 'unknown error'})`)),
      );
      child.once('exit', (code, signal) =>
        resolve(code === 0 ? { ok: true } : failed(`the command ended with ${signal ?? `exit code ${code}`}`)),
      );
    });
    // A program that does not read its input may still succeed.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(payload)}\n`);
    try {
      const delivery = await withTimeout(ends, DELIVERY_LIMIT_MS, sleep);
      return delivery ?? failed(`the command did not end within ${DELIVERY_LIMIT_MS / 1000} s`, true);
    } finally {
      endGroup(child.pid);
    }
  };

function withoutSecrets(env: DeliveryEffects['env'], redact: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || redact(value) !== value ? [] : [[name, value]],
    ),
  );
}

/** Ends the program's own children too: a child that continues would keep the inherited resources. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
}

/** How much of the response is read and discarded: an unread response leaves the connection in an undefined state. */
const MOST_ANSWER_BYTES = 65_536;

/** A function that posts an alert to the address. No part of the address is in its result. */
const openWebhook =
  (address: Secret, { sleep }: DeliveryEffects) =>
  async (payload: AlertPayload): Promise<Delivery> => {
    // A separate agent: it leaves no connection open, and no proxy or setting of another client applies.
    const dispatcher = new Agent({ connect: { timeout: DELIVERY_LIMIT_MS, rejectUnauthorized: true } });
    try {
      const delivery = await withTimeout(post(address, payload, dispatcher), DELIVERY_LIMIT_MS, sleep);
      return delivery ?? failed(`the webhook did not answer within ${DELIVERY_LIMIT_MS / 1000} s`, true);
    } finally {
      await dispatcher.destroy();
    }
  };

async function post(address: Secret, payload: AlertPayload, dispatcher: Agent): Promise<Delivery> {
  try {
    const { statusCode, body } = await request(address.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'sluice' },
      body: JSON.stringify(payload),
      dispatcher,
    });
    await body.dump({ limit: MOST_ANSWER_BYTES }).catch(() => undefined);
    if (statusCode >= 200 && statusCode < 300) return { ok: true };
    const isRedirect = statusCode >= 300 && statusCode < 400;
    return failed(
      isRedirect
        ? `the webhook redirects (${statusCode}); alerts follow no redirect`
        : `the webhook answered ${statusCode}`,
    );
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const known = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code);
    return failed(`the webhook can’t be reached${known ? ` (${code})` : ''}`);
  }
}
