/** The marks that erasure leaves: a tombstone in the place of a thing, a pseudonym in the place of a name. */
import type { RequestBody } from '../request-body.ts';
import { looseAddress, requestedName, NAME_KINDS } from './entity-name.ts';

type Wire = Readonly<Record<string, unknown>>;

/**
 * What stands for a forgotten item in a stored answer, so that the places of the others stay as they were. It keeps what
 * the item told of others, such as the school that somebody went to: their rows have no other source.
 */
export const tombstone = (remains: Wire = {}): Wire => ({ ...remains, '@type': GONE });

const GONE = '@sluice_forgotten';

/** True of what stands for a forgotten item. */
export const isTombstone = (value: unknown): value is Wire =>
  value !== null && typeof value === 'object' && '@type' in value && value['@type'] === GONE;

const PSEUDONYM = 'sluice-forgotten:';
const PSEUDONYM_DIGITS = 24;

/** What stands for the names of a forgotten entity in requests and texts: the beginning of its salted digest. */
export const pseudonymOf = (digest: string): string => PSEUDONYM + digest.slice(0, PSEUDONYM_DIGITS);

/** True of a text that is such a pseudonym; what was asked under it is tied to nothing any more. */
export const isPseudonym = (text: unknown): boolean => typeof text === 'string' && text.startsWith(PSEUDONYM);

/** True of a request of the ledger whose entity is forgotten: a pseudonym stands in it, alone or as the value of a URN. */
export const asksForPseudonym = (request: RequestBody): boolean =>
  Object.values(request)
    .flat()
    .some((it) => isPseudonym(it) || (typeof it === 'object' && it !== null && 'value' in it && isPseudonym(it.value)));

/** The names that a text may be, each in one spelling; addresses also in their loosest. */
export function nameVariants(text: string): readonly string[] {
  const { candidates } = requestedName(NAME_KINDS, text);
  return [...new Set([text.trim(), ...candidates.map(({ name }) => name), looseAddress(text) ?? ''])].filter(
    (it) => it !== '',
  );
}

/** Tells what is forgotten, be it known in clear or by digests alone. */
export interface Forgotten {
  /** True of the key of a forgotten row of that table. */
  readonly isKey: (table: string, key: readonly string[]) => boolean;
  /** True of a text that is one of the names of a forgotten row of that table, however it is spelled. */
  readonly isName: (table: string, text: string) => boolean;
  /** True of a text that as a whole identifies something forgotten, wherever it stands. */
  readonly isTrace: (text: string) => boolean;
  /** The text without the names in it. */
  readonly scrub: (text: string) => string;
  /** What stands for the names. */
  readonly pseudonym: string;
}
