/** Posts an alert once to the address of the config, and follows no redirect. */
import { Agent, request } from 'undici';
import type { Secret } from '../config/values/secret.ts';
import { withTimeout } from '../async/with-timeout.ts';
import { type Delivery, type DeliveryEffects, DELIVERY_LIMIT_MS, failed } from './delivery.ts';
import type { AlertPayload } from './payload.ts';

/** How much of the response is read and discarded: an unread response leaves the connection in an undefined state. */
const MOST_ANSWER_BYTES = 65_536;

/** A function that posts an alert to the address. No part of the address is in its result. */
export const openWebhook =
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
