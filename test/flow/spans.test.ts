import {
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { parentContext } from '../../src/telemetry/spans.ts';
import { openTracing } from '../../src/telemetry/tracing.ts';
import { embeddedWarehouses } from '../support/warehouse.ts';
import { SMALL, sceneIn } from './scene.ts';

interface Kept {
  readonly name: string;
  readonly id: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly attributes: Attributes;
  status: SpanStatusCode;
  ended: boolean;
}

/** What an SDK does, as far as it matters here: it keeps the spans. */
function registerSdk() {
  const spans: Kept[] = [];
  let flushed = 0;
  const startSpan = (name: string, { attributes = {} }: SpanOptions = {}, context?: Context): Span => {
    const parent = context && trace.getSpanContext(context);
    const number = String(spans.length + 1).padStart(16, '0');
    const id = { traceId: parent?.traceId ?? 'a'.repeat(32), spanId: number, traceFlags: 1 };
    const kept: Kept = { name, id, parent, attributes: { ...attributes }, status: SpanStatusCode.UNSET, ended: false };
    spans.push(kept);
    const span = {
      spanContext: () => id,
      setAttribute: (key: string, value: string) => {
        kept.attributes[key] = value;
      },
      setAttributes: (more: Attributes) => void Object.assign(kept.attributes, more),
      setStatus: ({ code }: { code: SpanStatusCode }) => {
        kept.status = code;
      },
      end: () => {
        kept.ended = true;
      },
    };
    return span as unknown as Span;
  };
  const provider = { getTracer: () => ({ startSpan }), forceFlush: () => Promise.resolve(void (flushed += 1)) };
  trace.setGlobalTracerProvider(provider as never);
  return { spans, flushed: () => flushed };
}
afterEach(() => trace.disable());

const sleep = (): Promise<void> => Promise.withResolvers<void>().promise;
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('tracing', () => {
  const open = embeddedWarehouses();

  it('makes a span of each run, call and load below the parent that the environment names', async () => {
    const sdk = registerSdk();
    const tracing = await openTracing({ TRACEPARENT, TRACESTATE: 'a=b' }, sleep);
    const { sync } = await sceneIn(await open(), { size: SMALL });
    const { beginSpan } = tracing ?? {};
    const yaml = 'syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1", "canary-2"] } } }';
    await sync(yaml, { effects: { ...(beginSpan && { beginSpan }) } });
    const [run, ...others] = sdk.spans;
    expect(run).toMatchObject({
      name: 'sluice.run',
      parent: {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        traceFlags: 1,
        isRemote: true,
      },
      attributes: { 'sluice.sync': 'groups', 'sluice.endpoint': 'pronet.group', 'sluice.run_id': '1' },
    });
    expect(run?.attributes).toHaveProperty('sluice.exit_code');
    const attempts = others.filter(({ name }) => name === 'sluice.attempt');
    expect(attempts).toHaveLength(2);
    expect(attempts[0]?.attributes).toMatchObject({ 'http.request.method': 'POST', 'url.path': '/api/pronet/group' });
    expect(others.some(({ name }) => name === 'sluice.load')).toBe(true);
    expect(others.every(({ parent }) => parent?.spanId === run?.id.spanId)).toBe(true);
    expect(sdk.spans.every(({ ended }) => ended)).toBe(true);
    expect(JSON.stringify(sdk.spans)).not.toContain('canary');
    await tracing?.flush();
    expect(sdk.flushed()).toBe(1);
  });

  it('is not there without an SDK', async () => {
    const symbol = Symbol.for('opentelemetry.js.api.1');
    const kept = (globalThis as Record<symbol, unknown>)[symbol];
    Reflect.deleteProperty(globalThis, symbol);
    try {
      expect(await openTracing({ TRACEPARENT }, sleep)).toBeUndefined();
    } finally {
      if (kept !== undefined) (globalThis as Record<symbol, unknown>)[symbol] = kept;
    }
  });

  it('waits for no collector that does not answer', async () => {
    registerSdk();
    const provider = { getTracer: () => ({}), forceFlush: sleep };
    trace.disable();
    trace.setGlobalTracerProvider(provider as never);
    const tracing = await openTracing({}, () => Promise.resolve());
    await expect(tracing?.flush()).resolves.toBeUndefined();
  });
});

it.each([
  '',
  'x',
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
  `${TRACEPARENT}x`,
])('a parent that is none begins a trace of its own: %j', (traceparent) => {
  expect(trace.getSpanContext(parentContext({ traceparent }))).toBeUndefined();
});
