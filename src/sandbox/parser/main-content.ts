/** Finds the main content of a page by where its long blocks of text are. */
import type { Cheerio, CheerioAPI } from 'cheerio';
import type { HtmlElement } from './dom.ts';

const BOILERPLATE =
  'nav, header, footer, aside, form, dialog, [role="navigation"], [role="banner"], [role="contentinfo"]';
const CONTAINERS = 'main, article, section, div, td';
const BLOCKS = 'p, pre, blockquote, li, dd, td';

/**
 * The element in which most text stands in blocks of at least `minTextBlock` characters, without the blocks around it
 * that every page has; the page without these where no block is that long.
 */
export function mainContent($: CheerioAPI, minTextBlock: number): Cheerio<HtmlElement> {
  const body = $('body').clone();
  body.find(BOILERPLATE).remove();
  const scores = new Map<HtmlElement, number>();
  body.find(BLOCKS).each((_, block) => {
    const length = textOf($(block)).length;
    const container = $(block).closest(`${CONTAINERS}, body`).get(0) as HtmlElement | undefined;
    if (container === undefined || length < minTextBlock) return;
    // A block belongs to what holds it and, less and less, to what is around that.
    let share = length;
    for (const around of [container, ...$(container).parents(CONTAINERS).toArray()]) {
      scores.set(around, (scores.get(around) ?? 0) + share);
      share *= 0.6;
    }
  });
  const [best] = [...scores].reduce<[HtmlElement | undefined, number]>(
    (most, [element, score]) => (score > most[1] ? [element, score] : most),
    [undefined, 0],
  );
  return best === undefined || best.tagName === 'body' ? body.children() : $(best);
}

const textOf = (element: Cheerio<HtmlElement>): string => element.text().replaceAll(/\s+/g, ' ').trim();
