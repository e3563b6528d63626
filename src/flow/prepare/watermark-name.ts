/** Names of watermarks: one for each input of a window, one for a request log, none for any other sync. */
import type { SyncDefinition } from '../../config/definition.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import type { RequestBody } from '../../service/request-body.ts';

/** Name of the watermark up to which the log was read. */
export const LOG_WATERMARK = 'log';

/** Name of the watermark of one input's window. A definition with other requests has watermarks of its own. */
export const windowWatermarkName = (definition: Pick<SyncDefinition, 'windowHash'>, input: RequestBody): string =>
  `window:${digestOf(canonicalJson([definition.windowHash, input]))}`;

/** Name of the watermark that decides what is requested for an input; undefined for a sync without watermarks. */
export function watermarkName(
  definition: Pick<SyncDefinition, 'endpoint' | 'window' | 'windowHash'>,
  input: RequestBody,
): string | undefined {
  if (definition.endpoint.paging.by === 'cursor') return LOG_WATERMARK;
  return definition.window && windowWatermarkName(definition, input);
}
