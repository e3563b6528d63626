/** Notes an answer that holds more than was asked for; its items are loaded all the same. */
import type { Notice } from '../../ledger/summary.ts';
import type { IngestResult } from './ingest.ts';

/** What is told of an answer with more items than asked for; undefined of any other. */
export function surplusNotice(sync: string, { answer, receipt }: IngestResult): Notice | undefined {
  const { count } = answer.request;
  return typeof count === 'number' && receipt.received > count
    ? {
        level: 'warn',
        sync,
        message: `answer ${answer.id} holds ${receipt.received} items where at most ${count} were asked for; all are loaded`,
      }
    : undefined;
}
