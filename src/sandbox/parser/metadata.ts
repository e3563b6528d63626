/** The metadata in a page's head. */
import type { CheerioAPI } from 'cheerio';
import type { Wire } from '../wire.ts';

/** The title, else the social media title, else the first heading, else null. */
export function titleOf($: CheerioAPI): string | null {
  const title = $('head > title').first().text().trim();
  const heading = $('h1').first().text().trim();
  return [title, $('meta[property="og:title"]').attr('content') ?? '', heading].find((text) => text !== '') ?? null;
}

/** The description, else the social media description, else null. */
export const descriptionOf = ($: CheerioAPI): string | null =>
  $('meta[name="description"]').attr('content') ?? $('meta[property="og:description"]').attr('content') ?? null;

/** All named meta elements except the description, with the language and the canonical address. */
export function metadataOf($: CheerioAPI): Wire {
  const named: [string, string][] = $('meta[name], meta[property]')
    .toArray()
    .map((element): [string, string] => {
      const name = $(element).attr('name') ?? $(element).attr('property') ?? '';
      return [name, $(element).attr('content') ?? ''];
    })
    .filter(([name]) => name !== '' && name !== 'description');
  const more = { lang: $('html').attr('lang'), canonical: $('link[rel="canonical"]').attr('href') };
  return Object.fromEntries([...named, ...Object.entries(more).filter(([, value]) => value !== undefined)]);
}
