/** The delivery of an alert: its result, and the effects that it needs. */

/** Whether the channel accepted the alert; if not, the reason. */
export type Delivery = { readonly ok: true } | { readonly ok: false; readonly because: string };

/** The longest time that a run waits for a channel. */
export const DELIVERY_LIMIT_MS = 10_000;

export const failed = (because: string): Delivery => ({ ok: false, because });

export interface DeliveryEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
}
