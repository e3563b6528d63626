/** The web of the sandbox: addresses with a page, and their HTML. */
import type { Drawing } from './draw.ts';
import { isPagePath, pageHtml, PATHS } from './page-html.ts';

export interface Pages {
  readonly sites: number;
  /** The content of an address: a page, something else, or nothing. */
  readonly fetch: (address: string) => Fetched;
}

export type Fetched =
  | { readonly kind: 'page'; readonly url: string; readonly html: string }
  | { readonly kind: 'not-a-page' }
  | { readonly kind: 'nothing' };

export function pagesOf(draw: Drawing, pages: number): Pages {
  const sites = Math.ceil(pages / PATHS.length);
  const html = pageHtml(draw);
  return {
    sites,
    fetch: (address) => {
      if (!URL.canParse(address)) return { kind: 'nothing' };
      const { protocol, hostname, port, pathname } = new URL(address);
      const site = Number(/^(?:www\.)?site-([1-9]\d*)\.example$/.exec(hostname)?.[1]);
      if (!/^https?:$/.test(protocol) || port !== '' || !(site <= sites)) return { kind: 'nothing' };
      if (/\.(?:pdf|png|jpe?g|zip|mp4)$/i.test(pathname)) return { kind: 'not-a-page' };
      if (!isPagePath(pathname)) return { kind: 'nothing' };
      // The page's canonical address, as after redirects: https, without www, query and fragment.
      return { kind: 'page', url: `https://site-${site}.example${pathname}`, html: html(site, pathname) };
    },
  };
}
