/** Removes an entity from the stored answers. */
import { EMPTY_BODY, readAnswer, replaceBody, type StoredAnswer } from '../../ledger/answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { decode } from '../../normalize/decode.ts';
import { isTombstone } from '../../service/names/forgotten.ts';
import { SHORTEST_TRACE } from '../../service/names/traces.ts';
import { inspectAnswer, textsOf } from './answer-body.ts';
import { noteRewritten, type RenewedDigests } from './logged-digests.ts';
import { ESCAPED_IN_JSON } from './sweep.ts';
import type { NameRegister, ErasureSearch } from './target.ts';

/** Answer ids per page. */
const PAGE = 1000;

export interface AnswerErasure {
  /** Answers from which something was removed. */
  readonly touched: Set<string>;
  /** The touched answers whose complete body was removed. */
  readonly erased: Set<string>;
  /** The digests of the texts that were rewritten. */
  readonly digests: RenewedDigests;
}

/**
 * Rewrites each stored answer that contains the entity. Names found in the answers are added to the register; if the
 * register grew, the caller must make another pass.
 */
export async function eraseFromAnswers(
  ops: Ops,
  search: ErasureSearch,
  register: NameRegister,
  requestsAboutEntity: ReadonlySet<string>,
  context: {
    readonly at: Date;
    readonly done: AnswerErasure;
    readonly signal: AbortSignal;
    readonly onProgress: (done: number, total: number) => void;
  },
): Promise<void> {
  const { total } = await ops
    .selectFrom('answers')
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .where('body', 'is not', null)
    .executeTakeFirstOrThrow();
  let seen = 0;
  for (let after = '0'; ; ) {
    const page = await ops
      .selectFrom('answers')
      .select('id')
      .where('id', '>', after)
      .where('body', 'is not', null)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id } of page) {
      context.signal.throwIfAborted();
      const answer = await readAnswer(ops, id);
      if (answer)
        await eraseFrom(ops, answer, {
          ...context,
          search,
          register,
          isAbout: requestsAboutEntity.has(answer.requestId),
        });
    }
    seen += page.length;
    context.onProgress(seen, Math.max(seen, Number(total)));
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? after;
  }
}

interface EraseOptions {
  readonly search: ErasureSearch;
  readonly register: NameRegister;
  /** The answer is to a question about the entity. */
  readonly isAbout: boolean;
  readonly at: Date;
  readonly done: AnswerErasure;
}

async function eraseFrom(
  ops: Ops,
  answer: StoredAnswer,
  { search, register, isAbout, at, done }: EraseOptions,
): Promise<void> {
  if (!isAbout && !mayTellOf(answer.body, search.hints)) return;
  const look = inspectAnswer(answer, { forgotten: search.forgotten, onFound: (found) => register.note(found) });
  if (look.kind === 'redacted') {
    await replaceBody(ops, answer.id, look.body, at);
    await dropRejects(ops, answer.id, look.body);
    noteRewritten(done.digests, answer, look.body);
    done.touched.add(answer.id);
  } else if (look.kind === 'unreadable' && (isAbout || mentions(answer.body, search.hints))) {
    // An answer that was not loaded yet must still be loaded, so it keeps an empty body.
    await replaceBody(ops, answer.id, answer.loaded ? null : EMPTY_BODY, at);
    await dropRejects(ops, answer.id, undefined);
    done.touched.add(answer.id);
    done.erased.add(answer.id);
  }
}

/** Returns true if a body may contain the entity. JSON may write texts with escapes, so such a body must be parsed. */
function mayTellOf(body: Uint8Array, hints: readonly string[]): boolean {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return (
    text.includes('\\u') ||
    text.includes('\\/') ||
    hints.some((hint) => text.includes(hint) || ESCAPED_IN_JSON.test(hint))
  );
}

/** Returns true if the bytes contain one of the longer texts, either literally or with JSON escapes. */
export function mentions(body: Uint8Array, hints: readonly string[]): boolean {
  const texts = textsOf(body);
  return hints.some((hint) => hint.length >= SHORTEST_TRACE && texts.some((text) => text.includes(hint)));
}

/** Deletes quarantine entries of removed items. The answer counts them as superseded, so that its sum stays correct. */
async function dropRejects(ops: Ops, answerId: string, body: Uint8Array | undefined): Promise<void> {
  const decoded = body && decode(body);
  const gone =
    decoded?.kind === 'items' ? [...decoded.items.keys()].filter((at) => isTombstone(decoded.items[at])) : [];
  if (body && gone.length === 0) return;
  const dropped = await ops
    .deleteFrom('quarantine')
    .where('answer_id', '=', answerId)
    .$if(body !== undefined, (some) => some.where('position', 'in', gone.map(String)))
    .returning('resolved_at')
    .execute();
  const open = dropped.filter(({ resolved_at: resolved }) => resolved === null).length;
  if (open === 0) return;
  await ops
    .updateTable('answers')
    .set((eb) => ({
      quarantined: eb('quarantined', '-', String(open)),
      superseded: eb('superseded', '+', String(open)),
    }))
    .where('id', '=', answerId)
    .where('loaded_at', 'is not', null)
    .execute();
}
