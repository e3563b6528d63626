/** An endpoint is one kind of request that the service answers: path, request, result, paging and price. */
import type * as z from 'zod';
import type { KeyedRequest } from './request-body.ts';
import type { NameKind } from './names/entity-name.ts';
import type { Kind, PersonalData, Resource, ValueOf } from './model.ts';
import type { Paging } from './paging.ts';

export interface Endpoint {
  /** The path with dots, without `/api`. */
  readonly name: string;
  readonly about: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The body, or the query of a GET, with all bounds and defaults of the contract. */
  readonly request: z.ZodObject;
  /** Request fields that hold a URN, with the only type allowed there. */
  readonly urns: Readonly<Record<string, string>>;
  /** Request fields whose order has no meaning. */
  readonly sets: readonly string[];
  /** List fields that can split a request whose answer was full. */
  readonly facets: readonly string[];
  /** By facet: one word that `split_by` accepts instead of a list of values. */
  readonly shorthands: Readonly<Record<string, Shorthand>>;
  readonly returns: Resource;
  /** The request field that names an entity. Absent if entities have a single name, or if requests do not name one. */
  readonly naming?: Naming;
  readonly paging: Paging;
  /** The table of what a request returned, separate from the entities. */
  readonly bridge?: Bridge;
  readonly price: Price;
}

/** A word for a list of values of a facet. */
export interface Shorthand {
  readonly word: string;
  /** The values, as a noun phrase. */
  readonly about: string;
  readonly values: readonly string[];
}

/** The entity that a request names. An answer about the entity serves requests under any of its names. */
export interface Naming {
  readonly field: string;
  readonly resource: () => Resource;
  /** Kinds of names that the field takes. */
  readonly kinds: readonly NameKind[];
}

/** A table that links requests to the entities that they returned. */
export interface Bridge {
  readonly table: string;
  readonly about: string;
  /** Columns that identify the request; the key consists of them and of the reference. */
  readonly questionColumns: Readonly<
    Record<
      string,
      { readonly about: string; readonly personal?: PersonalData; readonly from: (keyed: KeyedRequest) => string }
    >
  >;
  /** The resource returned; its key columns are here, with the prefix. */
  readonly to: () => Resource;
  readonly prefix: string;
  /** The list inside each item whose entities are linked. If absent, the items themselves are linked. */
  readonly via?: string;
  /** True if an answer shorter than the requested count is complete. A profile's recent posts are always partial. */
  readonly lists: boolean;
  /** Further columns, computed from the returned row and, for nested entities, from the row of its item. */
  readonly more?: Readonly<
    Record<
      string,
      {
        readonly kind: Kind;
        readonly about: string;
        readonly personal?: PersonalData | undefined;
        readonly from: (row: ValueOf, item: ValueOf) => string | null;
      }
    >
  >;
}

/** Prices in points. Assumed from services of this kind; the request log shows the actual prices. */
export interface Price {
  /** Points for one call, or for each started unit of results. */
  readonly points: number;
  /** Results in a unit; if absent, a call has one price. */
  readonly per?: number;
}

type Optional = 'urns' | 'sets' | 'facets' | 'shorthands';

export const endpoint = (it: Omit<Endpoint, Optional> & Partial<Pick<Endpoint, Optional>>): Endpoint => ({
  urns: {},
  sets: [],
  facets: [],
  shorthands: {},
  ...it,
});

/** The most points that a request can cost at this price. */
export function maxGuessedPoints(price: Price, request: Readonly<Record<string, unknown>>): number {
  return pointsFor(price, countOf(request) ?? 1);
}

/** The most items that a request can return; undefined if it sets no limit. */
export const countOf = ({ count }: Readonly<Record<string, unknown>>): number | undefined =>
  typeof count === 'number' ? count : undefined;

/** Points for an answer of `returned` items. An empty answer costs one unit too. */
export function pointsFor(price: Price, returned: number): number {
  return price.per === undefined ? price.points : price.points * Math.max(1, Math.ceil(returned / price.per));
}
