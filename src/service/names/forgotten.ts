/** The traces of an erasure: a tombstone replaces an item, a pseudonym replaces a name. */
import type { RequestBody } from '../request-body.ts';
import { looseAddress, requestedName, NAME_KINDS } from './entity-name.ts';

type Wire = Readonly<Record<string, unknown>>;

/**
 * The replacement of a forgotten item in a stored answer, so that the positions of other items stay. It keeps what the
 * item reported about other entities, such as the school of a person, because their rows have no other source.
 */
export const tombstone = (remains: Wire = {}): Wire => ({ ...remains, '@type': GONE });

const GONE = '@sluice_forgotten';

/** True if the value replaces a forgotten item. */
export const isTombstone = (value: unknown): value is Wire =>
  value !== null && typeof value === 'object' && '@type' in value && value['@type'] === GONE;

const PSEUDONYM = 'sluice-forgotten:';
const PSEUDONYM_DIGITS = 24;

/** The replacement of a forgotten entity's names in requests and texts: the beginning of its salted digest. */
export const pseudonymOf = (digest: string): string => PSEUDONYM + digest.slice(0, PSEUDONYM_DIGITS);

/** True if the text is a pseudonym. A request under a pseudonym is linked to no entity. */
export const isPseudonym = (text: unknown): boolean => typeof text === 'string' && text.startsWith(PSEUDONYM);

/** True if a request of the ledger contains a pseudonym, also inside a text, so that it cannot be sent again. */
export const asksForPseudonym = (request: RequestBody): boolean => JSON.stringify(request).includes(PSEUDONYM);

/** True if a value of a request is a pseudonym, a URN with one, or a list with one. */
export const holdsPseudonym = (value: unknown): boolean =>
  [value]
    .flat()
    .some((it) => isPseudonym(it) || (typeof it === 'object' && it !== null && 'value' in it && isPseudonym(it.value)));

/** The names that a text may be, each in normalized spelling, and addresses also in their loosest spelling. */
export function nameVariants(text: string): readonly string[] {
  const { candidates } = requestedName(NAME_KINDS, text);
  return [...new Set([text.trim(), ...candidates.map(({ name }) => name), looseAddress(text) ?? ''])].filter(
    (it) => it !== '',
  );
}

/** Decides what is forgotten, by names in clear text or by digests. */
export interface Forgotten {
  /** True if the key is that of a forgotten row of the table. */
  readonly isKey: (table: string, key: readonly string[]) => boolean;
  /** True if the text is a name of a forgotten row of the table, in any spelling. */
  readonly isName: (table: string, text: string) => boolean;
  /** True if the complete text identifies a forgotten entity, in any field. */
  readonly isTrace: (text: string) => boolean;
  /** The text without the names. */
  readonly scrub: (text: string) => string;
  /** The replacement of a text that names a forgotten entity. */
  readonly pseudonymFor: (name: string) => string;
}
