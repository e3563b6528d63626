/** What a webhook and a command receive: one JSON object for each alert, documented in docs/operations.md. */
import type { AlertRowKind, AlertState } from './store.ts';

/** New fields do not change `v`. No field is removed or changes its meaning within a version. */
export interface AlertPayload {
  readonly v: 1;
  readonly kind: AlertRowKind | 'test';
  readonly state: AlertState['state'];
  /** Null if the alert concerns all syncs, or a budget. */
  readonly sync: string | null;
  /** When this state began, RFC 3339. */
  readonly since: string;
  readonly because: string;
  readonly next: string | null;
  readonly run_id: string | null;
  /** The complete alert in one line, for chat services. */
  readonly text: string;
}

/** The payload of a state. Its texts are redacted. */
export function payloadOf(it: AlertState, redact: (text: string) => string): AlertPayload {
  // No sync has a name with a bracket.
  const sync = it.sync.startsWith('(') ? null : it.sync;
  const because = redact(it.because);
  const next = it.next === null ? null : redact(it.next);
  const what = it.kind.replaceAll('_', ' ');
  const about = sync === null ? what : `${redact(sync)}: ${what}`;
  return {
    v: 1,
    kind: it.kind,
    state: it.state,
    sync: sync === null ? null : redact(sync),
    since: it.since.toISOString(),
    because,
    next,
    run_id: it.runId,
    text:
      it.state === 'raised'
        ? `sluice: ${about}: ${next === null ? because : sentences(because, next)}`
        : `sluice: resolved: ${about}: ${because}`,
  };
}

/** Two texts as sentences in one line. The first may or may not end with a punctuation mark. */
const sentences = (first: string, second: string): string =>
  `${first}${'.!?…'.includes(first.at(-1) ?? '') ? ' ' : '. '}${second}`;

/** The payload of a test alert. */
export const testPayload = (now: Date): AlertPayload => ({
  v: 1,
  kind: 'test',
  state: 'raised',
  sync: null,
  since: now.toISOString(),
  because: 'sluice alerts test was run',
  next: null,
  run_id: null,
  text: 'sluice: this is a test of alerts',
});
