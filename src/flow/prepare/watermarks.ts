/**
 * The watermarks of a sync, and what their resets mean for fresh answers. There is one for each input of a window, one for a
 * request log, and none for any other sync.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { resetName, type Watermarks, isReset } from '../../ledger/watermarks.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { canonicalFields } from '../../service/request-key.ts';
import { microsOf } from '../../service/instant.ts';
import { latestKnown } from '../../warehouse/connect/clock.ts';
import { type MaxAgeOf, receivedAfter } from '../../control/freshness/max-age.ts';

type NamedDefinition = Pick<SyncDefinition, 'endpoint' | 'window' | 'windowHash' | 'formerWindowHash'>;

/** Name of the watermark up to which the log was read. */
export const LOG_WATERMARK = 'log';

/** Name of the watermark since which the log was read; its value is empty if it was read from its beginning. */
export const LOG_START = 'log_start';

/** Names of the watermark that decides what is requested for an input. */
export interface WatermarkNames {
  readonly name: string;
  /** The names that earlier versions may have given it; one may be the same. */
  readonly former: readonly string[];
}

/**
 * Names of the watermark of one input's window. A definition with other requests has watermarks of its own. An input with
 * another count, timeout or order of a list keeps its watermark.
 */
export function windowWatermarkNames(definition: NamedDefinition, input: RequestBody): WatermarkNames {
  const { endpoint, windowHash, formerWindowHash = windowHash } = definition;
  const own = watermarkFields(endpoint, input);
  return {
    name: windowName(windowHash, own),
    former: [windowHash, formerWindowHash].flatMap((hash) => [windowName(hash, own), windowName(hash, input)]),
  };
}

/**
 * The fields of an input that name its watermark. Inputs with the same fields have the same items, however they are
 * written.
 */
export function watermarkFields(endpoint: SyncDefinition['endpoint'], input: RequestBody): RequestBody {
  const { count: _, ...fields } = canonicalFields(endpoint, input);
  return fields;
}

const windowName = (windowHash: string, fields: RequestBody): string =>
  `window:${digestOf(canonicalJson([windowHash, fields]))}`;

/** Names of the watermark that decides what is requested for an input; undefined for a sync without watermarks. */
export function watermarkNames(definition: NamedDefinition, input: RequestBody): WatermarkNames | undefined {
  if (definition.endpoint.paging.by === 'cursor') return { name: LOG_WATERMARK, former: [] };
  return definition.window && windowWatermarkNames(definition, input);
}

/** The watermark with these names; undefined if there is none. */
export const watermarkOf = (watermarks: Watermarks, { name, former }: WatermarkNames): string | undefined =>
  [name, ...former].map((it) => watermarks.get(it)).find((it) => it !== undefined);

/** The time of its last reset; undefined if it was never reset. */
export const resetOf = (watermarks: Watermarks, { name, former }: WatermarkNames): string | undefined =>
  [name, ...former].map((it) => watermarks.get(resetName(it))).find((it) => it !== undefined);

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

/** Limits ages so that no answer received before the reset of an input's watermark is fresh. */
export function sinceResets(definition: NamedDefinition, maxAgeOf: MaxAgeOf, watermarks: Watermarks): MaxAgeOf {
  if (![...watermarks.keys()].some(isReset)) return maxAgeOf;
  return receivedAfter(maxAgeOf, (input) => {
    const names = watermarkNames(definition, input);
    const resetAt = names && resetOf(watermarks, names);
    return resetAt === undefined ? undefined : new Date(resetAt);
  });
}
