/** The first line of a spooled answer's file: its request, and everything about the answer except its bytes. */
import { sha256Of } from '../../ledger/compression.ts';
import type { StoredBytes } from '../../ledger/store-and-mark-sent.ts';

/** An answer with its request in the ledger. */
export interface SpooledAnswer extends StoredBytes {
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  /** The identifier of its attempts. Together with the request's id, it is unique across warehouses. */
  readonly xRequestId: string;
}

/** A spooled answer without its body. */
export interface WaitingAnswer extends Omit<SpooledAnswer, 'body'> {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

const FORMAT = 1;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the first line of an answer's file, without its line break. */
export const headLine = (answer: SpooledAnswer): string => JSON.stringify(headOf(answer));

const headOf = (answer: SpooledAnswer) => ({
  format: FORMAT,
  requestId: answer.requestId,
  runId: answer.runId,
  sync: answer.sync,
  xRequestId: answer.xRequestId,
  status: answer.status,
  headers: answer.headers,
  receivedAt: answer.receivedAt.toISOString(),
  tookMs: answer.tookMs,
  sha256: sha256Of(answer.body),
  bytes: answer.body.byteLength,
});

/** Parses the first line of a file; undefined if this program did not write it. */
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
