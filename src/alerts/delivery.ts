/** What an alert is delivered by. */

/** What came of telling somebody. */
export type Delivery = { readonly ok: true } | { readonly ok: false; readonly because: string };

export interface DeliveryEffects {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
}
