/** The names by which answers and requests call an entity, each in one spelling, so that two spellings are one name. */
import { withoutTrailing } from '../trailing.ts';
import { urnOf } from './urn.ts';

/** Kinds of names. What ids and URNs name never changes; aliases change hands, and addresses with them. */
export const NAME_KINDS = ['id', 'alias', 'url', 'urn'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export interface EntityName {
  readonly kind: NameKind;
  readonly name: string;
}

/** Longest name that is kept, in bytes of UTF-8: with an entity's key it has to fit an entry of an index. */
const LONGEST_NAME = 640;

/** The names of these that a table can hold; the others identify nothing. */
export const storableNames = (names: readonly EntityName[]): EntityName[] =>
  names.filter(
    ({ name }) => name !== '' && Buffer.byteLength(name) <= LONGEST_NAME && !name.includes('\0') && name.isWellFormed(),
  );

/** A name of a kind that an answer shows, in this program's spelling; undefined when the text names nothing. */
export function shownName(kind: NameKind, text: string): EntityName | undefined {
  const name = text.length > LONGEST_TEXT ? undefined : spelled(kind, text.trim());
  return name === undefined ? undefined : storableNames([{ kind, name }])[0];
}

function spelled(kind: NameKind, text: string): string | undefined {
  switch (kind) {
    case 'id':
      return text;
    case 'alias':
      return text.replace(/^@/, '');
    case 'url':
      return addressOf(text)?.whole;
    case 'urn':
      return urnText(text);
  }
}

/** What a text in a request may name. */
export interface RequestedName {
  /** The names that it may be: of a bare word an id or an alias. */
  readonly candidates: readonly EntityName[];
  /** The name that it is taken for when the answer shows none of these. */
  readonly fallback: EntityName | undefined;
  /** The text as written, when this program spells it otherwise; requests are known by what was written. */
  readonly written: string | undefined;
}

const NOTHING: RequestedName = { candidates: [], fallback: undefined, written: undefined };

/** What a request's text may name, of the kinds that are understood there. */
export function requestedName(kinds: readonly NameKind[], written: string): RequestedName {
  if (written.length > LONGEST_TEXT) return NOTHING;
  const text = written.trim();
  const of = (kind: NameKind, ...names: readonly string[]): RequestedName => {
    const candidates = storableNames(names.map((name) => ({ kind, name })));
    return { candidates, fallback: candidates[0], written: names.includes(written) ? undefined : written };
  };
  const urn = kinds.includes('urn') && !HAS_SCHEME.test(text) ? urnText(text) : undefined;
  if (urn !== undefined) return of('urn', urn);
  if (kinds.includes('url') && isAddress(text)) {
    const address = addressOf(text);
    return address ? of('url', address.whole) : NOTHING;
  }
  if (kinds.includes('alias') && text.startsWith('@')) return of('alias', text.slice(1));
  const candidates = storableNames(
    (['alias', 'id'] as const).filter((kind) => kinds.includes(kind)).map((kind) => ({ kind, name: text })),
  );
  // What an alias names can change, so taking a bare word for one is the careful guess.
  return { candidates, fallback: candidates[0], written: text === written ? undefined : written };
}

/** Longer texts are no names; taking them apart would only cost time. */
const LONGEST_TEXT = 4_000;

const HAS_SCHEME = /^https?:\/\//i;

/** Aliases hold dots, so a text without a scheme is an address only when it has a path. */
const isAddress = (text: string): boolean => HAS_SCHEME.test(text) || text.includes('/');

interface Address {
  readonly whole: string;
  /** Without its query. */
  readonly plain: string;
  /** Without scheme, `www.`, trailing slashes and fragment. */
  readonly loose: string;
}

/** Parameters that campaigns and apps add to an address; they never say which page it is. */
const TRACKING = /^(?:utm_\w+|gclid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igsh|igshid|mc_cid|mc_eid)$/i;

/**
 * An address as RFC 3986 normalizes it: host in small letters, without the scheme's own port, dot segments and an empty
 * query or fragment; `https` is left out too, as the usual scheme. Known tracking parameters are left out when there are
 * no others. Another scheme, `www.`, trailing slashes and fragments stay, since a service may tell entities apart by them. A host alone names nobody, and neither does an
 * address with a login.
 */
function addressOf(text: string): Address | undefined {
  const full = HAS_SCHEME.test(text) ? text : `https://${text}`;
  if (!URL.canParse(full)) return undefined;
  const { protocol, host, pathname, search, searchParams, hash, username, password } = new URL(full);
  if (username !== '' || password !== '') return undefined;
  const query = [...searchParams.keys()].every((name) => TRACKING.test(name)) ? '' : search;
  if (withoutTrailing(pathname, '/') === '' && query === '' && hash === '') return undefined;
  const scheme = protocol === 'https:' ? '' : `${protocol}//`;
  const plain = `${host}${withoutTrailing(pathname, '/')}`;
  return {
    whole: `${scheme}${host}${pathname}${query}${hash}`,
    plain,
    loose: `${plain.replace(/^www\./, '')}${query}${/^#!?\//.test(hash) ? hash : ''}`,
  };
}

/**
 * The address in the one spelling of all that most likely lead to the same page: good enough for finding a forgotten
 * person, never for taking two names for one entity. Undefined for a text that is no address.
 */
export const looseAddress = (text: string): string | undefined =>
  text.length <= LONGEST_TEXT && isAddress(text.trim()) ? addressOf(text.trim())?.loose : undefined;

function urnText(text: string): string | undefined {
  const urn = urnOf(text);
  return urn && `${urn.type}:${urn.value}`;
}

/**
 * What different names of one entity often have in common, such as the handle in an alias and in an address: a guess,
 * good enough for asking one after the other, never for taking two names for one entity.
 */
export function normalizedName(written: string): string {
  const text = written.trim().slice(0, LONGEST_TEXT);
  const path = isAddress(text) ? (addressOf(text)?.plain ?? text) : text;
  return (path.split(/[/:]/).at(-1) ?? path).replace(/^@/, '').toLowerCase();
}
