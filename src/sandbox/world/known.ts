/** Entities that exist in the sandbox for every seed and size. Shipped configs, docs and tests can request them. */
import type { Urn } from '../../service/names/urn.ts';

/** The default token of a sandbox. */
export const SANDBOX_TOKEN = 'sandbox-token';

/** A search that always has hits. */
export const KNOWN_SEARCH = { title: 'data engineer', location: ['Berlin'] } as const;

/** The first people of the world, who match that search; every second one is in the second place. */
export const KNOWN_PEOPLE = 24;
export const KNOWN_TITLE = 'Data Engineer';
export const KNOWN_PLACES = ['Berlin', 'Paris'] as const;

/** Posts with 6 to 30 reposts each. */
export const KNOWN_POSTS: readonly Urn[] = [1, 2, 3].map((n) => ({
  type: 'activity',
  value: `710000000000000000${n}`,
}));

export const KNOWN_GROUPS: readonly string[] = ['1001', '1002', '1003'];

/** Handles on both the microblogging and the photo-sharing network. */
export const KNOWN_ALIASES: readonly string[] = ['north_trail', 'acme_labs', 'river_coffee'];
/** The handle whose profiles have no empty list, so that a first query finds rows in every table. */
export const KNOWN_COMPLETE_ALIAS = 'acme_labs';

export const KNOWN_PAGES: readonly string[] = [
  'https://site-1.example/',
  'https://site-1.example/about',
  'https://site-2.example/contact',
  'https://site-3.example/blog/post-1',
];

/** Tickers of companies that file. */
export const KNOWN_TICKERS: readonly string[] = ['AAPL', 'MSFT', 'AMZN', 'NVDA', 'TSLA'];
