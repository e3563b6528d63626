/** The names of entities in answers and requests, each in one spelling, so that two spellings are one name. */
import { withoutTrailing } from '../trailing.ts';
import { urnOf } from './urn.ts';

/** Kinds of names. An id or URN always names the same entity; aliases and addresses can change hands. */
export const NAME_KINDS = ['id', 'alias', 'url', 'urn'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export interface EntityName {
  readonly kind: NameKind;
  readonly name: string;
}

/** The longest stored name, in bytes of UTF-8: with the key of its entity it must fit in an index entry. */
const LONGEST_NAME = 640;

/** The names that a table can store; the others identify nothing. */
export const storableNames = (names: readonly EntityName[]): EntityName[] =>
  names.filter(
    ({ name }) => name !== '' && Buffer.byteLength(name) <= LONGEST_NAME && !name.includes('\0') && name.isWellFormed(),
  );

/** A name of this kind from an answer, in normalized spelling; undefined if the text is not a name. */
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
      return addressOf(text)?.full;
    case 'urn':
      return urnText(text);
  }
}

/** What a text in a request may name. */
export interface RequestedName {
  /** The possible names: a bare word may be an id or an alias. */
  readonly candidates: readonly EntityName[];
  /** The assumed name, if the answer shows none of the candidates. */
  readonly fallback: EntityName | undefined;
  /** The text as written, if its normalized spelling differs. Requests are identified by the text as written. */
  readonly written: string | undefined;
}

const NOTHING: RequestedName = { candidates: [], fallback: undefined, written: undefined };

/** What the text of a request may name, among the kinds that the field accepts. */
export function requestedName(kinds: readonly NameKind[], written: string): RequestedName {
  if (written.length > LONGEST_TEXT) return NOTHING;
  const text = written.trim();
  const named = (kind: NameKind, ...names: readonly string[]): RequestedName => {
    const candidates = storableNames(names.map((name) => ({ kind, name })));
    return { candidates, fallback: candidates[0], written: names.includes(written) ? undefined : written };
  };
  const urn = kinds.includes('urn') && !HAS_SCHEME.test(text) ? urnText(text) : undefined;
  if (urn !== undefined) return named('urn', urn);
  if (kinds.includes('url') && isAddress(text)) {
    const address = addressOf(text);
    return address ? named('url', address.full) : NOTHING;
  }
  if (kinds.includes('alias') && text.startsWith('@')) return named('alias', text.slice(1));
  const candidates = storableNames(
    (['alias', 'id'] as const).filter((kind) => kinds.includes(kind)).map((kind) => ({ kind, name: text })),
  );
  // An alias can change hands, so treating a bare word as an alias is the safe choice.
  return { candidates, fallback: candidates[0], written: text === written ? undefined : written };
}

/** Longer texts are not names, and parsing them would only take time. */
const LONGEST_TEXT = 4_000;

const HAS_SCHEME = /^https?:\/\//i;

/** Aliases can contain dots, so a text without a scheme is an address only if it has a path. */
const isAddress = (text: string): boolean => HAS_SCHEME.test(text) || text.includes('/');

interface Address {
  readonly full: string;
  /** Without its query. */
  readonly plain: string;
  /** Without scheme, `www.`, trailing slashes and fragment. */
  readonly loose: string;
}

/** Parameters that campaigns and apps add to an address; they never identify the page. */
const TRACKING = /^(?:utm_\w+|gclid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igsh|igshid|mc_cid|mc_eid)$/i;

/**
 * An address, normalized as in RFC 3986: host in lower case, without default port, dot segments, empty query and empty
 * fragment. `https` is omitted as the default scheme. Known tracking parameters are omitted if there are no others.
 * Another scheme, `www.`, trailing slashes and fragments stay, since a service may distinguish entities by them.
 * Undefined for a host alone and for an address with a login: they name no entity.
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
    full: `${scheme}${host}${pathname}${query}${hash}`,
    plain,
    loose: `${plain.replace(/^www\./, '')}${query}${/^#!?\//.test(hash) ? hash : ''}`,
  };
}

/**
 * One spelling for all addresses that most likely lead to the same page; undefined if the text is not an address. Use
 * it to find a forgotten person, and never to treat two names as one entity.
 */
export const looseAddress = (text: string): string | undefined =>
  text.length <= LONGEST_TEXT && isAddress(text.trim()) ? addressOf(text.trim())?.loose : undefined;

function urnText(text: string): string | undefined {
  const urn = urnOf(text);
  return urn && `${urn.type}:${urn.value}`;
}

/**
 * What different names of one entity often share, such as the handle in an alias and in an address. It is a guess: use
 * it to order requests one after the other, and never to treat two names as one entity.
 */
export function normalizedName(written: string): string {
  const text = written.trim().slice(0, LONGEST_TEXT);
  const path = isAddress(text) ? (addressOf(text)?.plain ?? text) : text;
  return (path.split(/[/:]/).at(-1) ?? path).replace(/^@/, '').toLowerCase();
}
