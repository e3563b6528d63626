/** Reads how far a sync has read the request log. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { Watermarks } from '../../ledger/watermarks.ts';
import { microsOf } from '../../service/instant.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import { LOG_START, LOG_WATERMARK } from './watermark-name.ts';

/**
 * The watermark of the log; undefined if the definition begins before the rows that were read, or if a clock that was
 * ahead set it, since it is then unreliable.
 */
export function logWatermark({ from }: SyncDefinition, watermarks: Watermarks, now: Date): string | undefined {
  const start = watermarks.get(LOG_START);
  if (start !== undefined && logStart({ from }) < logStart({ from: start })) return undefined;
  const text = watermarks.get(LOG_WATERMARK);
  return text !== undefined && (microsOf(text) ?? 0n) > BigInt(latestKnown(now).getTime()) * 1000n ? undefined : text;
}

/** The instant from which a definition reads the log, in microseconds since 1970; -1 is the beginning. */
const logStart = ({ from }: Pick<SyncDefinition, 'from'>): bigint => microsOf(from ?? '') ?? -1n;
