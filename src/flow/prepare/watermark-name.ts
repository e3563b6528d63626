/** Names of watermarks: one for each input of a window, one for a request log, none for any other sync. */
import type { SyncDefinition } from '../../config/definition.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { canonicalRequest } from '../../service/request-key.ts';

type NamedDefinition = Pick<SyncDefinition, 'endpoint' | 'request' | 'window' | 'windowHash'>;

/** Name of the watermark up to which the log was read. */
export const LOG_WATERMARK = 'log';

/**
 * Name of the watermark of one input's window. A definition with other requests has watermarks of its own. An input with
 * another count, timeout or order of a list keeps its watermark.
 */
export function windowWatermarkName(definition: NamedDefinition, input: RequestBody): string {
  const { count: _, ...question } = canonicalRequest(definition.endpoint, { ...definition.request, ...input });
  const own = Object.fromEntries(Object.entries(question).filter(([field]) => Object.hasOwn(input, field)));
  return `window:${digestOf(canonicalJson([definition.windowHash, own]))}`;
}

/** Name of the watermark that decides what is requested for an input; undefined for a sync without watermarks. */
export function watermarkName(definition: NamedDefinition, input: RequestBody): string | undefined {
  if (definition.endpoint.paging.by === 'cursor') return LOG_WATERMARK;
  return definition.window && windowWatermarkName(definition, input);
}
