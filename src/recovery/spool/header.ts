/** The first line of a spooled answer's file: its request, and everything about the answer except its bytes. */
import { z } from 'zod';
import { sha256Of } from '../../ledger/compression.ts';
import type { StoredBytes } from '../../ledger/requests/store-and-record-sent.ts';

/** An answer with its request in the ledger. */
export interface SpooledAnswer extends StoredBytes {
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  /** The identifier of its attempts. Together with the request's id, it is unique across warehouses. */
  readonly xRequestId: string;
  /** The identity of the request; absent in files of earlier versions. */
  readonly requestKey?: string | undefined;
}

/** A spooled answer without its body. */
export interface WaitingAnswer extends Omit<SpooledAnswer, 'body'> {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

const FORMAT = 1;

/** Returns the first line of an answer's file, without its line break. */
export const headLine = (answer: SpooledAnswer): string => JSON.stringify(headOf(answer));

const headOf = (answer: SpooledAnswer) => ({
  format: FORMAT,
  requestId: answer.requestId,
  runId: answer.runId,
  sync: answer.sync,
  xRequestId: answer.xRequestId,
  requestKey: answer.requestKey,
  status: answer.status,
  headers: answer.headers,
  receivedAt: answer.receivedAt.toISOString(),
  tookMs: answer.tookMs,
  sha256: sha256Of(answer.body),
  bytes: answer.body.byteLength,
});

/** An id of the ledger. */
const LEDGER_ID = z.string().regex(/^\d{1,18}$/);

const HEAD = z.object({
  format: z.literal(FORMAT),
  requestId: LEDGER_ID,
  runId: LEDGER_ID,
  sync: z.string(),
  xRequestId: z.guid(),
  requestKey: z.string().optional(),
  status: z.number(),
  headers: z.record(z.string(), z.string()),
  receivedAt: z.string().refine((text) => !Number.isNaN(new Date(text).getTime())),
  tookMs: z.number(),
  sha256: z.string(),
  bytes: z.number(),
});

/** Parses the first line of a file; undefined if this program did not write it. */
export function waitingOf(file: string, line: string): WaitingAnswer | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  const head = HEAD.safeParse(parsed);
  if (!head.success) return undefined;
  const { format: _, receivedAt, ...rest } = head.data;
  return { file, ...rest, receivedAt: new Date(receivedAt) };
}
