/** The HTML library's element, which it uses everywhere and exports nowhere. */
import type { Cheerio, CheerioAPI } from 'cheerio';

type NodesOf<T> = T extends Cheerio<infer Node> ? Node : never;

/** An element of a parsed page. */
export type HtmlElement = Extract<NodesOf<ReturnType<CheerioAPI>>, { readonly tagName: string }>;

/** Every element of the page, in the order in which they begin. */
export const everyElement = ($: CheerioAPI): HtmlElement[] => $<HtmlElement, '*'>('*').toArray();
