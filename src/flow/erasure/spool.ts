/** Removes an entity from the answers in the spool. */
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { Spool } from '../../recovery/spool/files.ts';
import type { WaitingAnswer } from '../../recovery/spool/header.ts';
import { isAnsweredBy } from '../../recovery/spool/spool.ts';
import { headersWithout, holdsName, inspectAnswer, withoutForgotten } from './answer-body.ts';
import type { NameRegister, ErasureSearch } from './target.ts';
import { mentions } from './answers.ts';
import { EMPTY_BODY } from '../../ledger/answers.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';

/** What to remove from the spool. */
export interface SpoolErasure {
  readonly search: ErasureSearch;
  readonly register: NameRegister;
  /** The bans of earlier erasures, if the entity is among them: its names are now known only by their digests. */
  readonly earlier: Forgotten | undefined;
  readonly dryRun: boolean;
}

/**
 * Rewrites the spool files that contain the entity, and returns how many there were; a dry run only counts. An unreadable
 * file is emptied, so that its request still counts as answered. A repeated call handles the files that a crash left, and
 * those of a spool that could not be found before.
 */
export async function eraseFromSpool(ops: Ops, spool: Spool, erasure: SpoolErasure): Promise<number> {
  const { search, earlier, dryRun: dry } = erasure;
  let touched = 0;
  for (const waiting of (await spool.waiting()).answers) {
    const body = await spool.bodyOf(waiting);
    if (typeof body === 'string') continue;
    const kept = await keptOf(ops, waiting, body, erasure);
    const headers = [search.forgotten, earlier].reduce(
      (left, names) => (names ? headersWithout(left, names) : left),
      waiting.headers,
    );
    if (kept === undefined && headers === waiting.headers) continue;
    touched += 1;
    if (dry) continue;
    await spool.keep({ ...waiting, headers, body: kept ?? body });
    // The name of a file is that of its body.
    if (kept !== undefined) await spool.drop(waiting);
  }
  const holds = (bytes: Uint8Array): boolean =>
    mentions(bytes, search.hints) || (earlier !== undefined && holdsName(bytes, earlier));
  return touched + (dry ? 0 : await spool.removeMatching(holds));
}

async function keptOf(
  ops: Ops,
  waiting: WaitingAnswer,
  body: Uint8Array,
  { search, register, earlier }: SpoolErasure,
): Promise<Uint8Array | undefined> {
  const request = await ops
    .selectFrom('requests')
    .select(['endpoint', 'request_key', 'body'])
    .where(isAnsweredBy(waiting))
    .executeTakeFirst();
  // The answer belongs to another warehouse, so its request is unknown here.
  if (!request) return mentions(body, search.hints) ? EMPTY_BODY : undefined;
  const { endpoint, request_key: requestKey, body: asked } = request;
  const answer = { sync: waiting.sync, endpoint, requestKey, request: asked, body, damage: undefined };
  const look = inspectAnswer(answer, { forgotten: search.forgotten, onFound: (found) => register.note(found) });
  const isEmptied = look.kind === 'unreadable' && body.byteLength > 0 && mentions(body, search.hints);
  const kept = look.kind === 'redacted' ? look.body : isEmptied ? EMPTY_BODY : undefined;
  return (earlier && withoutForgotten({ ...answer, body: kept ?? body }, earlier)) ?? kept;
}
