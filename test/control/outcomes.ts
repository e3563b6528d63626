/** Outcomes of calls. */
import type { AnsweredOutcome } from '../../src/extract/outcome.ts';

/** An empty answer without headers. */
export const ANSWERED: AnsweredOutcome = {
  kind: 'answered',
  status: 200,
  headers: {},
  body: new Uint8Array(),
  receivedAt: new Date(0),
  tookMs: 1,
};
