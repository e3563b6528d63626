/** What to do after a run that went well. */
import type { Summary } from '../ledger/summary.ts';

/** The next step in one line: a look at what came. Empty where the summary itself tells one. */
export async function nextStepLine({ exitCode, syncs }: Pick<Summary, 'exitCode' | 'syncs'>): Promise<string> {
  if (exitCode !== 0 || syncs.length === 0 || syncs.some(({ next }) => next !== null)) return '';
  const [most] = syncs.filter(({ loaded }) => loaded > 0).toSorted((a, b) => b.loaded - a.loaded);
  if (!most) return 'next: nothing is new; sluice status tells how fresh everything is\n';
  // Only here, since the catalog is no small thing to load for help.
  const { endpointNamed } = await import('../service/catalog.ts');
  const table = endpointNamed(most.endpoint)?.returns.table;
  return table === undefined ? '' : `next: sluice query "select * from ${table} limit 10"\n`;
}
