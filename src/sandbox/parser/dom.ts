/** The HTML library's element type, which it does not export. */
import type { Cheerio, CheerioAPI } from 'cheerio';

type NodesOf<T> = T extends Cheerio<infer Node> ? Node : never;

/** An element of a parsed page. */
export type HtmlElement = Extract<NodesOf<ReturnType<CheerioAPI>>, { readonly tagName: string }>;

/** All elements of the page, in document order. */
export const everyElement = ($: CheerioAPI): HtmlElement[] => $<HtmlElement, '*'>('*').toArray();
