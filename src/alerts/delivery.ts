/** The delivery of an alert: its result, and the effects that it needs. */

/** Whether the channel accepted the alert; if not, the reason. A channel that did not answer in time may have accepted it. */
export type Delivery =
  | { readonly ok: true }
  | { readonly ok: false; readonly because: string; readonly mayHaveArrived: boolean };

/** The longest time that a run waits for a channel. */
export const DELIVERY_LIMIT_MS = 10_000;

export const failed = (because: string, mayHaveArrived = false): Delivery => ({ ok: false, because, mayHaveArrived });

export interface DeliveryEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
}
