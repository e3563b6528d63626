/** What a webhook and a command are told: one JSON object an alert, documented in docs/operations.md. */
import { ALL_SYNCS, type AlertRowKind, type AlertState } from './store.ts';

/** Fields are added without a new version; none is taken away or changes its meaning. */
export interface AlertPayload {
  readonly v: 1;
  readonly kind: AlertRowKind | 'test';
  readonly state: AlertState['state'];
  /** Null of what concerns all syncs. */
  readonly sync: string | null;
  /** When it came to stand so, RFC 3339. */
  readonly since: string;
  readonly because: string;
  readonly next: string | null;
  readonly run_id: string | null;
  /** The same in one line, which chat services show as it is. */
  readonly text: string;
}

/** The payload of a state, with secrets taken out of its words. */
export function payloadOf(it: AlertState, redact: (text: string) => string): AlertPayload {
  const sync = it.sync === ALL_SYNCS ? null : it.sync;
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

/** Two texts as sentences of one line; the first may have no end mark, or one of the service's own. */
const sentences = (first: string, second: string): string =>
  `${first}${'.!?…'.includes(first.at(-1) ?? '') ? ' ' : '. '}${second}`;

/** What is sent to see whether it arrives. */
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
