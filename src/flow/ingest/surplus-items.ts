/** Reports an answer with more items than requested; all items are loaded. */
import type { Notice } from '../../ledger/summary.ts';
import type { IngestResult } from './ingest.ts';

/** Returns the notice about an answer with more items than requested; undefined for any other answer. */
export function surplusNotice(sync: string, { answer, receipt }: IngestResult): Notice | undefined {
  const { count } = answer.request;
  return typeof count === 'number' && receipt.received > count
    ? {
        level: 'warn',
        sync,
        message: `answer ${answer.id} holds ${receipt.received} items, more than the ${count} requested; all are loaded`,
      }
    : undefined;
}
