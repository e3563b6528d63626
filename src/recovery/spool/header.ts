/** The first line of a spooled answer's file: which request it belongs to, and all that is known of it but its bytes. */
import { sha256Of } from '../../ledger/compression.ts';
import type { StoredBytes } from '../../ledger/store-and-mark-sent.ts';

/** An answer with the request of the ledger that it belongs to. */
export interface SpooledAnswer extends StoredBytes {
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  /** What its attempts were sent with: no two warehouses have a request of this number and this id. */
  readonly xRequestId: string;
}

/** An answer that waits: what its file says of it, without its body. */
export interface WaitingAnswer extends Omit<SpooledAnswer, 'body'> {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

const FORMAT = 1;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The first line of an answer's file, without its line break. */
export const headLine = (it: SpooledAnswer): string => JSON.stringify(headOf(it));

const headOf = (it: SpooledAnswer) => ({
  format: FORMAT,
  requestId: it.requestId,
  runId: it.runId,
  sync: it.sync,
  xRequestId: it.xRequestId,
  status: it.status,
  headers: it.headers,
  receivedAt: it.receivedAt.toISOString(),
  tookMs: it.tookMs,
  sha256: sha256Of(it.body),
  bytes: it.body.byteLength,
});

/** What the first line of a file says; undefined when it is not what this program writes. */
export function waitingOf(file: string, line: string): WaitingAnswer | undefined {
  let head: Partial<Record<keyof ReturnType<typeof headOf>, unknown>>;
  try {
    head = (JSON.parse(line) ?? {}) as typeof head;
  } catch {
    return undefined;
  }
  const { format, requestId, runId, sync, xRequestId, status, headers, receivedAt, tookMs, sha256, bytes } = head;
  const at = new Date(typeof receivedAt === 'string' ? receivedAt : Number.NaN);
  const isRight =
    format === FORMAT &&
    isNumber(requestId) &&
    isNumber(runId) &&
    typeof sync === 'string' &&
    typeof xRequestId === 'string' &&
    UUID.test(xRequestId) &&
    typeof status === 'number' &&
    isTexts(headers) &&
    !Number.isNaN(at.getTime()) &&
    typeof tookMs === 'number' &&
    typeof sha256 === 'string' &&
    typeof bytes === 'number';
  return isRight
    ? { file, requestId, runId, sync, xRequestId, status, headers, receivedAt: at, tookMs, sha256, bytes }
    : undefined;
}

/** An id of the ledger. */
const isNumber = (value: unknown): value is string => typeof value === 'string' && /^\d{1,18}$/.test(value);

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  value !== null && typeof value === 'object' && Object.values(value).every((it) => typeof it === 'string');
