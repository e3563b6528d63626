/** Reads the price of each endpoint from its price book, with the spread of costs around it. */
import type { Config } from '../../config/definition.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import type { Costs } from '../../insight/costs.ts';
import type { Level, PriceBook, Confidence } from '../../plan/pricing/price-book.ts';
import { quantile } from '../../plan/pricing/price-model.ts';
import { catalog } from '../../service/catalog.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

export interface EndpointPrice {
  readonly endpoint: string;
  /** The unit of the price: a call, or started units of items returned or requested; null if costs follow no rule. */
  readonly by: 'call' | 'returned' | 'asked' | null;
  /** Items in a unit; 1 for a price by call. */
  readonly per: number | null;
  /** Points for one call or unit. */
  readonly points: number | null;
  /** Points for an answer without items, and for an unknown entity; null until the log shows one. */
  readonly empty: number | null;
  readonly missing: number | null;
  /** Points for one call according to the log: the 10th percentile, the median and the 90th percentile. */
  readonly low: number | null;
  readonly median: number | null;
  readonly high: number | null;
  /** The standard deviation of costs from the price, as a share. */
  readonly deviation: number;
  readonly samples: number;
  readonly confidence: Confidence;
  /** The observed costs, by the items requested and returned. */
  readonly levels: readonly Level[];
}

/** The prices that plans use, for the endpoints that the config or the log contains, in the order of the catalog. */
export async function endpointPrices(
  warehouse: Warehouse,
  config: Pick<Config, 'prices' | 'syncs'>,
  { endpoints }: Pick<Costs, 'endpoints'>,
): Promise<EndpointPrice[]> {
  const found: EndpointPrice[] = [];
  for (const endpoint of catalog) {
    const sync = config.syncs.find((it) => it.endpoint.name === endpoint.name);
    const isUsed = sync !== undefined || endpoints.some((it) => it.endpoint === endpoint.name);
    if (!isUsed) continue;
    const book = await readPrices(warehouse, config, { name: sync?.name ?? '', endpoint });
    found.push(priceOf(endpoint.name, book));
  }
  return found;
}

function priceOf(
  endpoint: string,
  { model, empty, missing, levels, deviation, samples, confidence }: PriceBook,
): EndpointPrice {
  // Each level represents its samples by their 10th percentile, median and 90th percentile.
  const quantileOf = (share: number, valueOf: (level: Level) => number): number | null =>
    levels.length === 0
      ? null
      : quantile(
          levels.map((level) => ({ value: valueOf(level), times: level.samples })),
          share,
        );
  return {
    endpoint,
    by: model?.by ?? null,
    per: model?.per ?? null,
    points: model?.points ?? null,
    empty: empty ?? null,
    missing: missing ?? null,
    low: quantileOf(0.1, ({ low }) => low),
    median: quantileOf(0.5, ({ median }) => median),
    high: quantileOf(0.9, ({ high }) => high),
    deviation,
    samples,
    confidence,
    levels,
  };
}
