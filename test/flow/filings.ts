/** Filings in the sandbox's world and in the warehouse, for tests that request them by windows of days. */
import { select } from './rows.ts';
import { type Scene, service } from './scene.ts';

/** A world with several filings a day. */
export const BUSY = { filings: 20_000, companies: 40 };

/** A config that syncs filings, with these further lines of the sync. */
export const filings = (
  more: string,
  request = '{ count: 20 }',
  settings = {},
): string => `${service({ in_flight: 2, ...settings })}
syncs:
  filings:
    endpoint: sec.search.companies
    request: ${request}
    ${more}
`;

/** The requested days, in the order of the requests. */
export const days = (scene: Scene): string[] =>
  scene.arrived().flatMap(({ endpoint, body }) => {
    if (endpoint !== 'sec.search.companies') return [];
    const { date_from: from, date_to: to } = body as { date_from: string; date_to: string };
    return [`${from}..${to}`];
  });

/** The first and the last day that were requested since the last call. */
export const range = (scene: Scene): string => {
  const requested = days(scene)
    .flatMap((slice) => slice.split('..'))
    .toSorted();
  return `${requested[0] ?? ''}..${requested.at(-1) ?? ''}`;
};

/** Keys of what the world has, which the warehouse should have too. */
export const inWorld = ({ sandbox }: Scene, query: object): string[] =>
  sandbox.world.filings
    .search({ count: 1_000_000, entity_name: '', ...query })
    .items.map((it) => `${String(it['accession_number'])}/${String(it['file_name'])}`)
    .toSorted();
/** Keys of the filings in the warehouse. */
export const inTable = async ({ warehouse }: Scene): Promise<string[]> =>
  (
    await select<{ key: string }>(
      warehouse,
      "select accession_number || '/' || file_name as key from sluice.sec_filings",
    )
  )
    .map(({ key }) => key)
    .toSorted();
