/**
 * The prices of a sync's calls: the guess of the config or the endpoint, replaced by prices learned from the request
 * log.
 */
import type { Config, SyncDefinition } from '../../config/definition.ts';
import { readReturned, readSamples } from '../../ledger/price-samples.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { learnPrices, type PriceBook } from '../../plan/pricing/price-book.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';

/** Returns the current price book of a sync. */
export async function readPrices(
  warehouse: Warehouse,
  { prices }: Pick<Config, 'prices'>,
  { name, endpoint }: Pick<SyncDefinition, 'name' | 'endpoint'>,
): Promise<PriceBook> {
  const samples = await readSamples(warehouse, endpoint, name);
  const ops = operationsOf(warehouse);
  const returned = await readReturned(ops, name, 'others');
  const ofParts = await readReturned(ops, name, 'parts');
  return { ...learnPrices(prices[endpoint.name] ?? endpoint.price, samples, returned), partCounts: ofParts };
}
