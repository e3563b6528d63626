/** Entities that exist in the sandbox at every seed and every size: what shipped configs, docs and tests can ask for. */
import type { Urn } from '../../service/names/urn.ts';

/** The token that a sandbox accepts when nobody chose another. */
export const SANDBOX_TOKEN = 'sandbox-token';

/** A search that always has hits. */
export const KNOWN_SEARCH = { title: 'data engineer', location: ['Berlin'] } as const;

/** People at the beginning of the world who make sure of that; every other one is in the second place. */
export const KNOWN_PEOPLE = 24;
export const KNOWN_TITLE = 'Data Engineer';
export const KNOWN_PLACES = ['Berlin', 'Paris'] as const;

/** Posts with 3 to 30 reposts each. */
export const KNOWN_POSTS: readonly Urn[] = [1, 2, 3].map((n) => ({
  type: 'activity',
  value: `710000000000000000${n}`,
}));

export const KNOWN_GROUPS: readonly string[] = ['1001', '1002', '1003'];

/** Handles on the microblogging and on the photo-sharing network alike. */
export const KNOWN_ALIASES: readonly string[] = ['north_trail', 'acme_labs', 'river_coffee'];
/** The one of them whose profiles leave no list empty, so that a first look finds something in every table. */
export const KNOWN_COMPLETE_ALIAS = 'acme_labs';

export const KNOWN_PAGES: readonly string[] = [
  'https://site-1.example/',
  'https://site-1.example/about',
  'https://site-2.example/contact',
  'https://site-3.example/blog/post-1',
];

/** Tickers of companies that file. */
export const KNOWN_TICKERS: readonly string[] = ['AAPL', 'MSFT', 'AMZN', 'NVDA', 'TSLA'];
