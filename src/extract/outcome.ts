/** What came of one attempt at a request. */

export type Outcome =
  /** The whole answer arrived, whatever its status says. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Lower-case names; without cookies. */
      readonly headers: Readonly<Record<string, string>>;
      /** Decoded from any content encoding. */
      readonly body: Uint8Array;
      readonly receivedAt: Date;
      readonly tookMs: number;
    }
  /** No byte of the request can have been acted on: nothing was bought. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The request went out and its answer did not come back whole: it may have been bought. */
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      readonly status?: number;
      /** The answer came and was larger than is taken: asking the same again would pay for the same again. */
      readonly tooLarge?: true;
    };

export type AnsweredOutcome = Extract<Outcome, { kind: 'answered' }>;
