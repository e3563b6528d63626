/** The outcome of one attempt at a request. */

export type Outcome =
  /** The complete answer arrived, with any status. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names, without cookies. */
      readonly headers: Readonly<Record<string, string>>;
      /** Decoded from any content encoding. */
      readonly body: Uint8Array;
      readonly receivedAt: Date;
      readonly tookMs: number;
    }
  /** No byte of the request can have been processed, so nothing was bought. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The request was sent, and its answer did not arrive completely. It may have been bought. */
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      readonly status?: number;
      /** The answer exceeded the size limit. Another attempt would pay for the same answer again. */
      readonly tooLarge?: true;
    };

export type AnsweredOutcome = Extract<Outcome, { kind: 'answered' }>;
