/** What calls cost by the price book of each endpoint, and how far costs spread around it. */
import type { Config } from '../../config/definition.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import type { Costs } from '../../insight/costs.ts';
import type { Level, PriceBook, Confidence } from '../../plan/pricing/price-book.ts';
import { quantile } from '../../plan/pricing/price-model.ts';
import { catalog } from '../../service/catalog.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

export interface EndpointPrice {
  readonly endpoint: string;
  /** What is charged for: each call, or each started unit of items; null when costs follow no rule. */
  readonly by: 'call' | 'returned' | 'asked' | null;
  /** Items in a unit; 1 of a price by call. */
  readonly per: number | null;
  /** Points for a call or a unit. */
  readonly points: number | null;
  /** Points for an answer without items, and for an unknown entity; null until seen. */
  readonly empty: number | null;
  readonly missing: number | null;
  /** Points for one call as the log shows them: a tenth cost no more than `low`, nine tenths no more than `high`. */
  readonly low: number | null;
  readonly median: number | null;
  readonly high: number | null;
  /** How much calls cost more or less than the price says, as a share: the standard deviation. */
  readonly deviation: number;
  readonly samples: number;
  readonly sure: Confidence;
  /** What was seen, by items asked for and returned. */
  readonly levels: readonly Level[];
}

/** The prices that plans reckon with, of the endpoints that the config asks or the log shows, in the catalog's order. */
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
  { model, empty, missing, levels, deviation, samples, sure }: PriceBook,
): EndpointPrice {
  // A level stands for its samples by what a tenth, half and nine tenths of them cost at the most.
  const at = (share: number, of: (level: Level) => number): number | null =>
    levels.length === 0
      ? null
      : quantile(
          levels.map((level) => ({ value: of(level), times: level.samples })),
          share,
        );
  return {
    endpoint,
    by: model?.by ?? null,
    per: model?.per ?? null,
    points: model?.points ?? null,
    empty: empty ?? null,
    missing: missing ?? null,
    low: at(0.1, ({ low }) => low),
    median: at(0.5, ({ median }) => median),
    high: at(0.9, ({ high }) => high),
    deviation,
    samples,
    sure,
    levels,
  };
}
