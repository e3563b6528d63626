/** The next step after a complete run. */
import type { Summary } from '../ledger/summary.ts';

/** The inputs whose entities the service does not know. */
const MISSING_INPUTS = "select sync, input_value, at from sync_inputs where outcome = 'missing'";

/**
 * The next step in one line, which shows the new rows, or missing inputs if no row is new. Empty if the summary contains a
 * next step itself.
 */
export async function nextStepLine({ exitCode, syncs }: Pick<Summary, 'exitCode' | 'syncs'>): Promise<string> {
  if (exitCode !== 0 || syncs.length === 0 || syncs.some(({ next }) => next !== null)) return '';
  const [most] = syncs.filter(({ loaded }) => loaded > 0).toSorted((a, b) => b.loaded - a.loaded);
  if (!most && syncs.some(({ missing }) => missing > 0)) return `next: sluice query "${MISSING_INPUTS}"\n`;
  if (!most) return 'next: no item is new or changed; run sluice status to see how fresh the data is\n';
  // Imported here, because the catalog takes long to load and the help does not need it.
  const { endpointNamed } = await import('../service/catalog.ts');
  const table = endpointNamed(most.endpoint)?.returns.table;
  return table === undefined ? '' : `next: sluice query "select * from ${table} limit 10"\n`;
}
