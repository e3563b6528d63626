/** Moves paid answers that the database did not take to the disk, and stores them in the database at the next start. */
import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import { SluiceError, TransientError } from '../../errors.ts';
import { decode } from '../../normalize/decode.ts';
import type { RunScope } from '../../ledger/run-scope.ts';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import type { Spool } from './files.ts';
import type { SpooledAnswer, WaitingAnswer } from './header.ts';
import type { Notice } from '../../ledger/summary.ts';
import { storeAnswers } from '../../ledger/requests/store-and-record-sent.ts';
import { readAnswer, type StoredAnswer, storedAnswerId } from '../../ledger/answers.ts';
import { toUserError, type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

export interface SpoolContext extends RetryEffects {
  readonly spool: Spool;
  readonly now: () => Date;
  readonly onNotice: (notice: Notice) => void;
}

/** Removes forgotten entities from a stored answer. */
export type RemoveForgotten = (ops: Ops, answer: StoredAnswer, at: Date) => Promise<void>;

export interface IngestSpooledContext extends Omit<SpoolContext, 'spool'> {
  readonly removeForgotten: RemoveForgotten;
}

/** Takes an answer that could not be stored, and the reason; returns the error that ends the run. */
export type SpoolWriter = (answer: SpooledAnswer, failure: unknown) => Promise<unknown>;

/**
 * Returns a writer that spools a run's answers. Its error names the folder of the spooled answers, and the number of
 * lost ones.
 */
export function openSpoolWriter({ spool, onNotice }: Pick<SpoolContext, 'spool' | 'onNotice'>): SpoolWriter {
  let kept = 0;
  let lost: { readonly many: number; readonly because: string; readonly next: string } | undefined;
  return async (answer, failure) => {
    const { sync, requestId } = answer;
    const because = failure instanceof Error ? failure.message : String(failure);
    let end: string;
    try {
      await spool.keep(answer);
      kept += 1;
      end = `it is kept in ${spool.folder}`;
    } catch (error) {
      const { message, next = LATER } = error as SluiceError;
      lost = { many: (lost?.many ?? 0) + 1, because: message, next };
      end = `${message}; it is lost, and sending the request again may be charged again`;
    }
    const what = `the answer to request ${requestId} could not be stored (${because})`;
    onNotice({ level: 'warn', sync, message: `${what}: ${end}` });
    if (!(toUserError(failure) instanceof SluiceError)) return failure;
    const ends = [
      ...(kept > 0 ? [`${kept} kept in ${spool.folder}`] : []),
      ...(lost ? [`${lost.many} lost, because ${lost.because}`] : []),
    ];
    return new TransientError(`answers could not be stored (${because}): ${ends.join('; ')}`, {
      next: lost?.next ?? (failure instanceof SluiceError ? failure.next : undefined) ?? LATER,
      cause: failure,
    });
  };
}

const LATER =
  'Run the sync again when the database is available: it loads the kept answers first and does not buy them again.';

/** A spool with the answers in it. */
export interface SpooledFiles {
  readonly spool: Spool;
  readonly answers: readonly WaitingAnswer[];
}

/**
 * Returns the spooled answers of these syncs, in order of receipt. Unreadable files are renamed, and answers of other
 * syncs stay; a notice reports both.
 */
export async function spooledAnswers(
  { spool, onNotice }: Pick<SpoolContext, 'spool' | 'onNotice'>,
  syncs: readonly string[],
): Promise<SpooledFiles> {
  const warn = (message: string): void => onNotice({ level: 'warn', message });
  try {
    const { answers, damaged } = await spool.waiting();
    for (const file of damaged) warn(setAside(spool, file));
    const ours = answers.filter(({ sync }) => syncs.includes(sync));
    if (ours.length < answers.length)
      warn(
        `${answers.length - ours.length} answers in ${spool.folder} belong to syncs that the config does not name; they stay there`,
      );
    return { spool, answers: ours };
  } catch (error) {
    warn(`answers that may wait in ${spool.folder} can’t be read: ${(error as Error).message}`);
    return { spool, answers: [] };
  }
}

const setAside = ({ folder }: Spool, file: string): string =>
  `${file} in ${folder} is damaged; it is set aside, and the request that it answered counts as in doubt`;

/**
 * Stores a sync's spooled answers that the ledger knows, each once. The caller holds the lease of the sync, or of the
 * part that the answers belong to, or no living process does. Answers of another warehouse stay, with a notice.
 */
export async function ingestSpooled(
  ops: Ops,
  { spool, answers }: SpooledFiles,
  { sync, part }: { readonly sync: string; readonly part?: RunScope },
  context: IngestSpooledContext,
): Promise<void> {
  const warn = (message: string): void => context.onNotice({ level: 'warn', sync, message });
  let taken = 0;
  for (const answer of answers.filter((one) => one.sync === sync)) {
    const request = await retryTransient(() => requestOf(ops, answer), context);
    if (part && (answer.runId !== part.id || request?.chunk !== part.chunk)) continue;
    if (!request) {
      warn(
        `${answer.file} in ${spool.folder} belongs to another warehouse, or to a run that a restored backup does not have; it stays there`,
      );
      continue;
    }
    const body = await spool.bodyOf(answer).catch((error: unknown) => error as Error);
    if (body instanceof Error) warn(`${answer.file} in ${spool.folder} can’t be read: ${body.message}`);
    else if (body === 'damaged') warn(setAside(spool, answer.file));
    else if (body !== 'gone') {
      await retryTransient(() => storeOnce(ops, { ...answer, body }, context), context);
      taken += 1;
      // A stored answer is recognized when its file is found again.
      await spool.drop(answer).catch((error: unknown) => {
        warn(`${answer.file} in ${spool.folder} was stored and can’t be removed: ${(error as Error).message}`);
      });
    }
  }
  if (taken === 0) return;
  const [stored, were] =
    taken === 1 ? ['1 answer', 'was stored; it is'] : [`${taken} answers`, 'were stored; they are'];
  const message = `${stored} that waited in ${spool.folder} ${were} not bought again`;
  context.onNotice({ level: 'info', sync, message });
}

/**
 * An SQL condition that a request of this ledger got the answer; a spool may come from another warehouse. In a restored
 * ledger, the request may be planned and not sent yet. If it was planned later, it only has the same ids.
 */
export function isAnsweredBy(answer: WaitingAnswer): Expression<SqlBool> {
  const { requestId, runId, sync, xRequestId, requestKey, receivedAt } = answer;
  const eb = expressionBuilder<OpsDatabase, 'requests'>();
  const isSame = eb.and({ id: requestId, run_id: runId, sync });
  const isSent = eb('x_request_id', '=', xRequestId);
  if (requestKey === undefined) return eb.and([isSame, isSent]);
  const isUnsent = eb.and([
    eb('x_request_id', 'is', null),
    eb.and({ state: 'planned', request_key: requestKey }),
    eb('planned_at', '<=', sql<Date>`${receivedAt.toISOString()}::timestamptz`),
  ]);
  return eb.and([isSame, eb.or([isSent, isUnsent])]);
}

/** Finds the request of the answer. */
const requestOf = async (ops: Ops, answer: WaitingAnswer) =>
  ops
    .selectFrom('requests')
    .select(['id', 'state', 'status', 'answer_id', 'request_key', 'chunk', 'x_request_id'])
    .where(isAnsweredBy(answer))
    .forUpdate()
    .executeTakeFirst();

async function storeOnce(
  ops: Ops,
  answer: WaitingAnswer & { readonly body: Uint8Array },
  { now: clock, removeForgotten }: IngestSpooledContext,
): Promise<void> {
  const now = clock();
  await ops.transaction().execute(async (tx) => {
    const request = await requestOf(tx, answer);
    if (!request || (await storedAnswerId(tx, request.id, answer)) !== undefined) return;
    if (request.x_request_id === null) await recordAttempt(tx, answer);
    const newer = await newerAnswerId(tx, request, answer.receivedAt);
    const [answerId] = await storeAnswers(tx, [{ requestId: request.id, answer }]);
    if (newer === undefined || answerId === undefined) return;
    // The request was sent again meanwhile, or another sync bought the same. If this answer were loaded with its higher
    // id, it would overwrite the newer answer, which serves the request.
    const { state, status, answer_id: known } = request;
    const served =
      known === null
        ? { state: 'fresh' as const, answer_id: newer, finished_at: now.toISOString() }
        : { state, answer_id: known };
    await tx
      .updateTable('requests')
      .set({ ...served, status })
      .where('id', '=', request.id)
      .execute();
    // Other answers lose forgotten entities when they are loaded.
    const stored = await readAnswer(tx, answerId);
    if (stored) await removeForgotten(tx, stored, now);
    const items = String(countOf(answer.body));
    const counts = { received: items, loaded: '0', changed: '0', unchanged: '0', superseded: items, quarantined: '0' };
    await tx
      .updateTable('answers')
      .set({ ...counts, loaded_at: now.toISOString() })
      .where('id', '=', answerId)
      .execute();
  });
}

/** Records the attempt that a restored ledger does not have, so that its cost is found in the request log. */
async function recordAttempt(ops: Ops, { requestId, xRequestId, receivedAt, tookMs }: WaitingAnswer): Promise<void> {
  const sentAt = new Date(receivedAt.getTime() - tookMs).toISOString();
  await ops
    .updateTable('requests')
    .set({ x_request_id: xRequestId, attempts: '1', sent_at: sentAt })
    .where('id', '=', requestId)
    .execute();
}

/**
 * Returns a readable answer that was not received before this time: that of the request, otherwise the newest one that any
 * sync got to the same question; undefined if there is none.
 */
async function newerAnswerId(
  ops: Ops,
  { request_key: key, answer_id: known }: { readonly request_key: string; readonly answer_id: string | null },
  than: Date,
): Promise<string | undefined> {
  const newer = ops
    .selectFrom('answers')
    .select('id')
    .where('unreadable', '=', false)
    .where('received_at', '>=', sql<Date>`${than.toISOString()}::timestamptz`);
  const own = known === null ? undefined : await newer.where('id', '=', known).executeTakeFirst();
  const found =
    own ??
    (await newer
      .where('request_key', '=', key)
      // An answer without its body cannot serve another sync.
      .where('body', 'is not', null)
      .orderBy('id', 'desc')
      .executeTakeFirst());
  return found?.id;
}

function countOf(body: Uint8Array): number {
  const decoded = decode(body);
  return decoded.kind === 'items' ? decoded.items.length : 1;
}
