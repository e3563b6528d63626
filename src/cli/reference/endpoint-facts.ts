/** What an endpoint accepts, returns and costs, as data and in words: for the command and the reference page. */
import { exampleConfig } from '../../config/template.ts';
import { settable } from '../../config/request-fields.ts';
import { feedsOfEndpoint } from '../../lineage/relations.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { type RequestField, requestFields } from './request-type.ts';

export interface EndpointFacts {
  readonly name: string;
  readonly about: string;
  readonly method: Endpoint['method'];
  readonly path: string;
  /** The resource of the items of an answer. */
  readonly returns: string;
  /** The table of the items. */
  readonly table: string;
  /**
   * once: one answer has everything. count: an answer has at most `count` items. window: the same, and days can be split.
   * cursor: page by page.
   */
  readonly paging: Endpoint['paging']['by'];
  /** The most items of an answer; null if there is no limit. */
  readonly maxCount: number | null;
  /** The fields that `split_by` accepts, each with a word for all values that it accepts instead of a list. */
  readonly splitBy: readonly { readonly field: string; readonly shorthand: string | null }[];
  /** The first guess: points for a request, or for each started number of results. */
  readonly price: { readonly points: number; readonly per: number | null };
}

export interface EndpointDetails extends EndpointFacts {
  /** The request fields that a config can set. */
  readonly fields: readonly RequestField[];
  /** The request fields that paging sets, each with the reason. */
  readonly setByPaging: readonly { readonly field: string; readonly reason: string }[];
  /** Every table that answers feed. */
  readonly tables: readonly string[];
  /** A config with a sync of the endpoint, as YAML. */
  readonly example: string;
}

export function endpointFacts(endpoint: Endpoint): EndpointFacts {
  const { name, about, method, path, returns, paging, facets, shorthands, price, request } = endpoint;
  const count = requestFields(request).find((it) => it.name === 'count');
  return {
    name,
    about,
    method,
    path,
    returns: returns.name,
    table: returns.table,
    paging: paging.by,
    maxCount: count?.max ?? null,
    splitBy: facets.map((field) => ({ field, shorthand: shorthands[field]?.word ?? null })),
    price: { points: price.points, per: price.per ?? null },
  };
}

export function endpointDetails(endpoint: Endpoint): EndpointDetails {
  const { name, request, paging } = endpoint;
  const allowed = settable(endpoint);
  return {
    ...endpointFacts(endpoint),
    fields: requestFields(request).filter((it) => allowed.includes(it.name)),
    setByPaging: Object.entries(paging.ownFields).map(([field, reason]) => ({ field, reason })),
    tables: [...new Set(feedsOfEndpoint(name).map(({ table }) => table))],
    example: exampleConfig(name),
  };
}

const PAGING: Record<EndpointFacts['paging'], string> = {
  once: 'One request, one answer.',
  count: 'An answer with `count` items may be incomplete; there is no second page.',
  cursor: 'Sluice reads it page by page, from its watermark.',
  window:
    'An answer with `count` items may be incomplete. With `window`, Sluice then splits its days and requests each part.',
};

/** Whether one answer has everything, and what happens if not, as Markdown. */
export const pagingInWords = ({ paging }: Pick<Endpoint, 'paging'>): string => PAGING[paging.by];

/** The first guess of the price, as a sentence. */
export function priceInWords({ price: { points, per } }: Pick<Endpoint, 'price'>): string {
  if (points === 0) return 'Costs nothing.';
  const unit = points === 1 ? '1 point' : `${points} points`;
  return `First guess of its price: ${unit} ${per === undefined ? 'per request' : `for each started ${per} results`}.`;
}
