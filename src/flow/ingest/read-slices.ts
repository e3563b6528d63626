/** Decides from an answer whether its slice is complete. */
import { isUnreadable, type ReparsedSlice } from '../../ledger/failures/unreadable-answers.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import { countOf, type Endpoint } from '../../service/endpoint.ts';
import { dayIn } from '../../service/paging.ts';
import type { IngestResult } from './ingest.ts';

/**
 * True if the last day of an answer had ended in the source's time zone when the answer was requested. A day that has not
 * ended can still get more items.
 */
export function lastDayHadEnded(
  { paging: { days } }: Endpoint,
  { request, receivedAt, tookMs }: Pick<StoredAnswer, 'request' | 'receivedAt' | 'tookMs'>,
): boolean {
  if (!days) return true;
  const last = request[days.to];
  const sentAt = new Date(Date.parse(receivedAt) - tookMs);
  return typeof last === 'string' && last < dayIn(days.timeZone, sentAt);
}

/** Returns the readable answers among those that were loaded again, with the state of their slices. */
export const reparsedSlices = (results: readonly IngestResult[]): ReparsedSlice[] =>
  results
    .filter(({ answer, batch }) => answer.loaded && !isUnreadable(batch))
    .map(({ answer, identity, receipt }) => {
      const endpoint = endpointNamed(answer.endpoint);
      const isPage = endpoint?.paging.by === 'cursor';
      const complete =
        endpoint !== undefined &&
        !isPage &&
        receipt.received < (countOf(answer.request) ?? Infinity) &&
        lastDayHadEnded(endpoint, answer);
      return { answerId: answer.id, requestKey: identity.requestKey, receipt, complete, isPage };
    });
