/** Finds the main content of a page by the position of its long text blocks. */
import type { Cheerio, CheerioAPI } from 'cheerio';
import type { HtmlElement } from './select.ts';

const BOILERPLATE =
  'nav, header, footer, aside, form, dialog, [role="navigation"], [role="banner"], [role="contentinfo"]';
const CONTAINERS = 'main, article, section, div, td';
const BLOCKS = 'p, pre, blockquote, li, dd, td';

/**
 * The element with the most text in blocks of at least `minTextBlock` characters, without navigation, headers and
 * footers. If no block is that long, the page without these parts.
 */
export function mainContent($: CheerioAPI, minTextBlock: number): Cheerio<HtmlElement> {
  const body = $('body').clone();
  body.find(BOILERPLATE).remove();
  const scores = new Map<HtmlElement, number>();
  body.find(BLOCKS).each((_, block) => {
    const length = textOf($(block)).length;
    const container = $(block).closest(`${CONTAINERS}, body`).get(0) as HtmlElement | undefined;
    if (container === undefined || length < minTextBlock) return;
    // A block counts for its container and, with decreasing weight, for the elements around it.
    let share = length;
    for (const ancestor of [container, ...$(container).parents(CONTAINERS).toArray()]) {
      scores.set(ancestor, (scores.get(ancestor) ?? 0) + share);
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
