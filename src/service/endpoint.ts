/** An endpoint is one question that the service answers: where, with what, returning what, paged how, for how much. */
import type * as z from 'zod';
import type { KeyedRequest } from './request-body.ts';
import type { NameKind } from './names/entity-name.ts';
import type { Kind, Resource } from './model.ts';
import type { Paging } from './paging.ts';

export interface Endpoint {
  /** The path with dots, without `/api`. */
  readonly name: string;
  readonly about: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The body (of a GET: the query), with every bound and default of the contract, and nothing else. */
  readonly request: z.ZodObject;
  /** Request fields that hold a URN, with the only type allowed there. */
  readonly urns: Readonly<Record<string, string>>;
  /** Request fields whose order means nothing. */
  readonly sets: readonly string[];
  /** List fields by which a full answer can be asked again in parts. */
  readonly facets: readonly string[];
  readonly returns: Resource;
  /** The request field that names an entity; absent where an entity has one name only, or is not asked for by name. */
  readonly naming?: Naming;
  readonly paging: Paging;
  /** What a question returned, kept apart from the things themselves. */
  readonly bridge?: Bridge;
  readonly price: Price;
}

/** Whom a question is about: an answer about an entity serves whatever name it is asked for by. */
export interface Naming {
  readonly field: string;
  readonly resource: () => Resource;
  /** Kinds of names that the field takes. */
  readonly kinds: readonly NameKind[];
}

/** A table that ties what was asked to what came back. */
export interface Bridge {
  readonly table: string;
  readonly about: string;
  /** Columns that name the question; with the reference they are the key. */
  readonly questionColumns: Readonly<
    Record<string, { readonly about: string; readonly from: (asked: KeyedRequest) => string }>
  >;
  /** The thing returned: its key columns, prefixed. */
  readonly to: () => Resource;
  readonly prefix: string;
  /** The list inside each item whose entities are tied; absent, the items themselves are. */
  readonly via?: string;
  /** True when an answer shorter than asked lists them all; a profile's recent posts are only a part. */
  readonly lists: boolean;
  /** Further columns, from the returned row or, of things nested in an item, from the item's row. */
  readonly more?: Readonly<
    Record<
      string,
      {
        readonly kind: Kind;
        readonly about: string;
        readonly from: (
          row: Readonly<Record<string, unknown>>,
          item: Readonly<Record<string, unknown>>,
        ) => string | null;
      }
    >
  >;
}

/** Assumed: prices, seen at services of this shape; the request log shows the true ones. In points. */
export interface Price {
  /** Points for one call, or for each started unit of results. */
  readonly points: number;
  /** Results in a unit; absent, the call has one price. */
  readonly per?: number;
}

export const endpoint = (
  it: Omit<Endpoint, 'urns' | 'sets' | 'facets'> & Partial<Pick<Endpoint, 'urns' | 'sets' | 'facets'>>,
): Endpoint => ({ urns: {}, sets: [], facets: [], ...it });

/** The most points that a request can cost by these prices. */
export function maxGuessedPoints(price: Price, request: Readonly<Record<string, unknown>>): number {
  return pointsFor(price, countOf(request) ?? 1);
}

/** The most items that a request asks for; undefined when it sets no limit. */
export const countOf = ({ count }: Readonly<Record<string, unknown>>): number | undefined =>
  typeof count === 'number' ? count : undefined;

/** Points for an answer of `returned` items; an empty answer costs a unit all the same. */
export function pointsFor(price: Price, returned: number): number {
  return price.per === undefined ? price.points : price.points * Math.max(1, Math.ceil(returned / price.per));
}
