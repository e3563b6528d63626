/** Removes an entity from the answers in the spool. */
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Spool } from '../../recovery/spool/files.ts';
import type { WaitingAnswer } from '../../recovery/spool/header.ts';
import { headersWithout, inspectAnswer } from './answer-body.ts';
import type { NameRegister, ErasureSearch } from './target.ts';
import { mentions } from './answers.ts';
import { EMPTY_BODY } from '../../ledger/answers.ts';

/**
 * Rewrites the spool files that contain the entity, and returns how many there were; `dry` only counts. An unreadable
 * file is emptied, so that its request still counts as answered. A repeated call after a crash handles the remaining
 * files.
 */
export async function eraseFromSpool(
  ops: Ops,
  spool: Spool,
  search: ErasureSearch,
  register: NameRegister,
  dry: boolean,
): Promise<number> {
  let touched = 0;
  for (const waiting of (await spool.waiting()).answers) {
    const body = await spool.bodyOf(waiting);
    if (typeof body === 'string') continue;
    const kept = await keptOf(ops, waiting, body, search, register);
    const headers = headersWithout(waiting.headers, search.forgotten);
    if (kept === undefined && headers === waiting.headers) continue;
    touched += 1;
    if (dry) continue;
    await spool.keep({ ...waiting, headers, body: kept ?? body });
    // The name of a file is that of its body.
    if (kept !== undefined) await spool.drop(waiting);
  }
  const holds = (bytes: Uint8Array): boolean => mentions(bytes, search.hints);
  return touched + (dry ? 0 : await spool.removeMatching(holds));
}

async function keptOf(
  ops: Ops,
  { requestId, runId, sync, xRequestId }: WaitingAnswer,
  body: Uint8Array,
  search: ErasureSearch,
  register: NameRegister,
): Promise<Uint8Array | undefined> {
  const request = await ops
    .selectFrom('requests')
    .select(['endpoint', 'request_key', 'body'])
    .where('id', '=', requestId)
    .where('run_id', '=', runId)
    .where('x_request_id', '=', xRequestId)
    .executeTakeFirst();
  // The answer belongs to another warehouse, so its request is unknown here.
  if (!request) return mentions(body, search.hints) ? EMPTY_BODY : undefined;
  const { endpoint, request_key: requestKey, body: asked } = request;
  const answer = { sync, endpoint, requestKey, request: asked, body, damage: undefined };
  const look = inspectAnswer(answer, { forgotten: search.forgotten, onFound: (found) => register.note(found) });
  if (look.kind === 'redacted') return look.body;
  return look.kind === 'unreadable' && body.byteLength > 0 && mentions(body, search.hints) ? EMPTY_BODY : undefined;
}
