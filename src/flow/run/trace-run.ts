/** The span of a run, for an invocation that is traced. */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT } from '../../errors.ts';
import type { SyncSummary } from '../../ledger/summary.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import type { FlowEffects } from './invocation.ts';

/** The part of a run that this process did before workers continued it. */
const SHARED = { state: 'running', exitCode: EXIT.complete, error: null } as const;

/** Does the work in a span of its own, which ends with the summary or the error; without tracing, only does the work. */
export async function traceRun(
  { beginSpan }: Pick<FlowEffects, 'beginSpan'>,
  { name, endpoint }: SyncDefinition,
  work: (traced: { readonly spans?: RunSpans }) => Promise<SyncSummary | 'shared'>,
): Promise<SyncSummary | 'shared'> {
  const spans = beginSpan?.(name, endpoint.name);
  if (!spans) return work({});
  try {
    const summary = await work({ spans });
    spans.end(summary === 'shared' ? SHARED : summary);
    return summary;
  } catch (error) {
    spans.end({ state: 'failed', exitCode: EXIT.bug, error: null });
    throw error;
  }
}
