/** Columns and a condition that several views of syncs and answers share. */
import { bigint, identifier, text } from './view.ts';

export const sync = text('Name of the sync in the config.');
export const endpoint = text('Name of the endpoint: its path with dots.');
export const request_key = identifier(text('SHA-256 of the endpoint and the canonical body, in hex.'));
export const run_id = bigint('Id of the run; tables refer to it as _run_id.');
const itemsCounted = (when: string) => ({
  received: bigint(
    `Number of items in the loaded answers${when}: the sum of loaded, unchanged, superseded and quarantined.`,
  ),
  loaded: bigint(`Number of items that created or changed rows${when}.`),
  unchanged: bigint(`Number of items equal to their stored rows${when}.`),
  superseded: bigint(
    `Number of items that occur again later in their answer, or that a newer loaded answer replaces${when}.`,
  ),
  quarantined: bigint(`Number of items that could not be loaded and are in quarantine${when}.`),
});
export const items = itemsCounted('');
/** A later retry of the quarantine or a replay changes the counts of answers, and not those of their run. */
export const itemsAtEnd = itemsCounted(', counted when the run ended');

/**
 * Condition that no live process works on the run with this alias. Its process holds the lease, or the run itself if
 * workers share it.
 */
export const hasDied = (run: string, leases = '"leases"'): string => `${run}.state = 'running' and not exists (
        select from ${leases} l where l.expires_at >= now() and l.holder in (${run}.holder, 'run/' || ${run}.id)
      )`;

/** Condition that closes the case of a request in doubt: a later request with the same key was answered, in any run of any sync. */
export const isAnsweredSince = (
  request: string,
  answers = '"answers"',
): string => `(${request}.state = 'in_doubt' and exists (
            select from ${answers} w where w.request_key = ${request}.request_key and w.request_id > ${request}.id
          ))`;

/** State and error of the run `r`. A run is interrupted as soon as its lease expires, before a process records it. */
export const RUN_STATE = `case when ${hasDied('r')} then 'interrupted' else r.state end`;
export const RUN_ERROR = `case when ${hasDied('r')} then 'its process died before the run ended; the next run of its sync continues it, or ends it after 24 hours' else r.error end`;

/** Orders runs by sync, the newest first. Samples and runs of given days come last, because they say little of their sync. */
export const NEWEST_BY_SYNC = `sync, (scope in ('limited', 'range')) is true, id desc`;
