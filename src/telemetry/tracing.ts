/** Finds out whether somebody traces this process; only then anything of tracing is loaded. */
import type { RunSpans } from './spans.ts';

/** Begins the span of a run of a sync. */
export type BeginRunSpan = (sync: string, endpoint: string) => RunSpans;

export interface Tracing {
  readonly beginSpan: BeginRunSpan;
  /** Has what was traced sent, within seconds; the process ends without asking for it. Rejects never. */
  readonly flush: () => Promise<void>;
}

/** Where every copy of the OpenTelemetry API of this major version keeps what an SDK registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Tracing by the SDK that was loaded before this program, as with `node --import`; undefined without one. */
export async function openTracing(
  { TRACEPARENT: traceparent, TRACESTATE: tracestate }: Readonly<Record<string, string | undefined>>,
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>,
): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined;
  const { beginRunSpan, flushSpans } = await import('./spans.ts');
  const parent = { traceparent, tracestate };
  return {
    beginSpan: (sync, endpoint) => beginRunSpan(sync, endpoint, parent),
    flush: () => flushSpans(sleep),
  };
}
