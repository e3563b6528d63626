/**
 * Spans of a run. They use only the OpenTelemetry API, so without an SDK in the process they do nothing. Parents are
 * passed as values, so no context manager is needed. The service gets no trace header, because its contract has none.
 */
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { withTimeout } from '../async/with-timeout.ts';
import type { Outcome } from '../extract/outcome.ts';
import type { SyncSummary } from '../ledger/summary.ts';

/** The trace that a run belongs to, from the environment. */
export interface TraceParent {
  /** In the format of W3C Trace Context; a malformed value starts a new trace. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export interface RunSpans {
  /** Sets the id of the run once it is known. */
  readonly setRunId: (runId: string) => void;
  /** Runs one attempt at one request in a span. */
  readonly attempt: (about: AttemptInfo, work: () => Promise<Outcome>) => Promise<Outcome>;
  /** Runs one load of any number of answers in a span. */
  readonly load: <T>(answers: number, work: () => Promise<T>) => Promise<T>;
  readonly end: (summary: Pick<SyncSummary, 'state' | 'exitCode' | 'error'>) => void;
}

export interface AttemptInfo {
  /** The id of the request in the ledger. */
  readonly id: string;
  readonly xRequestId: string;
  readonly endpoint: { readonly name: string; readonly method: string; readonly path: string };
}

const WELL_FORMED =
  /^(?!ff)[\da-f]{2}-(?<traceId>(?!0{32})[\da-f]{32})-(?<spanId>(?!0{16})[\da-f]{16})-(?<flags>[\da-f]{2})(?:-.*)?$/;

/** The context of the parent; the root context if the parent is absent or malformed. */
export function parentContext({ traceparent = '', tracestate = '' }: TraceParent): Context {
  const { traceId, spanId, flags } = WELL_FORMED.exec(traceparent.trim())?.groups ?? {};
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags ?? '0', 16) & 1;
  const traceState = tracestate === '' ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...traceState });
}

/** Starts the span of a run of a sync. */
export function beginRunSpan(sync: string, endpoint: string, parent: TraceParent): RunSpans {
  const tracer = trace.getTracer('sluice');
  const outer = parentContext(parent);
  const run = tracer.startSpan(
    'sluice.run',
    { attributes: { 'sluice.sync': sync, 'sluice.endpoint': endpoint } },
    outer,
  );
  const inside = trace.setSpan(outer, run);
  return {
    setRunId: (runId) => void run.setAttribute('sluice.run_id', runId),
    attempt: async ({ id, xRequestId, endpoint: { name, method, path } }, work) => {
      const attributes = {
        'sluice.endpoint': name,
        'sluice.request_id': id,
        'sluice.x_request_id': xRequestId,
        'http.request.method': method,
        'url.path': path,
      };
      const span = tracer.startSpan('sluice.attempt', { kind: SpanKind.CLIENT, attributes }, inside);
      return ended(span, async () => {
        const outcome = await work();
        span.setAttribute('sluice.outcome', outcome.kind);
        if ('status' in outcome && outcome.status !== undefined)
          span.setAttribute('http.response.status_code', outcome.status);
        if (outcome.kind !== 'answered' || outcome.status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
        return outcome;
      });
    },
    load: (answers, work) =>
      ended(tracer.startSpan('sluice.load', { attributes: { 'sluice.answers': answers } }, inside), work),
    end: ({ state, exitCode, error }) => {
      run.setAttributes({ 'sluice.state': state, 'sluice.exit_code': exitCode });
      if (exitCode !== 0) run.setStatus({ code: SpanStatusCode.ERROR, ...(error !== null && { message: error }) });
      run.end();
    },
  };
}

async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Only the name: the message may contain private data.
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
    throw error;
  } finally {
    span.end();
  }
}

interface Flushing extends TracerProvider {
  readonly getDelegate?: () => TracerProvider;
  readonly forceFlush?: () => Promise<void>;
}

/** The longest wait for the collector of spans. */
const FLUSH_WITHIN_MS = 5_000;

/** Makes an SDK send its spans, because the process ends without a flush. Never rejects. */
export async function flushSpans(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Promise<void> {
  const provider: Flushing = trace.getTracerProvider();
  const sdk: Flushing = provider.getDelegate?.() ?? provider;
  if (!sdk.forceFlush) return;
  await withTimeout(sdk.forceFlush(), FLUSH_WITHIN_MS, sleep).catch(() => undefined);
}
