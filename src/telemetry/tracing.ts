/** Loads the tracing code only if an OpenTelemetry SDK is registered in this process. */
import type { RunSpans } from './spans.ts';

/** Starts the span of a run of a sync. */
export type BeginRunSpan = (sync: string, endpoint: string) => RunSpans;

export interface Tracing {
  readonly beginSpan: BeginRunSpan;
  /** Sends the remaining spans within seconds, because the process ends without a flush. Never rejects. */
  readonly flush: () => Promise<void>;
}

/** The global key under which every copy of this major version of the OpenTelemetry API keeps a registered SDK. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Tracing with the SDK that was loaded before this program, for example by `node --import`; undefined without one. */
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
