/** What a sync's calls cost: the config's guess or the endpoint's, replaced by what the request log teaches. */
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { readReturned, readSamples } from '../../ledger/price-samples.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { learnPrices, type PriceBook } from '../../plan/pricing/price-book.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

/** The price book of a sync as of now. */
export async function readPrices(
  warehouse: Warehouse,
  { prices }: Pick<Config, 'prices'>,
  { name, endpoint }: Pick<SyncDefinition, 'name' | 'endpoint'>,
): Promise<PriceBook> {
  const samples = await readSamples(warehouse, endpoint, name);
  const returned = await readReturned(operationsOf(warehouse), name);
  return learnPrices(prices[endpoint.name] ?? endpoint.price, samples, returned);
}
