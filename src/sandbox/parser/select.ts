/** Selects the elements of a page that the tag options name. */
import type { Cheerio, CheerioAPI } from 'cheerio';

/** The text is not a valid selector. */
export class SelectorError extends Error {
  readonly option: 'include_tags' | 'exclude_tags';
  readonly at: number;

  constructor(option: SelectorError['option'], at: number, selector: string) {
    super(`${JSON.stringify(selector)} is not a CSS selector`);
    this.name = 'SelectorError';
    this.option = option;
    this.at = at;
  }
}

/** The selected elements in document order, without elements inside others; undefined without selectors. */
export function include($: CheerioAPI, selectors: readonly string[]): Cheerio<HtmlElement> | undefined {
  if (selectors.length === 0) return undefined;
  const chosen = new Set(selectors.flatMap((selector, at) => select($, 'include_tags', selector, at)));
  const inOrder = everyElement($).filter((element) => chosen.has(element));
  return $(
    inOrder.filter(
      (element) =>
        !$(element)
          .parents()
          .toArray()
          .some((around) => chosen.has(around)),
    ),
  );
}

/** Removes the elements that the selectors or masks select. */
export function exclude($: CheerioAPI, selectors: readonly string[]): void {
  const chosen = selectors.flatMap((selector, at) =>
    MASK.test(selector.trim()) ? masked($, selector.trim()) : select($, 'exclude_tags', selector, at),
  );
  $(chosen.filter((element) => !ROOTS.has(element.tagName))).remove();
}

/** A mask such as `*ad*` or `.ad-*`; `a[href*=x]` and `*` alone are selectors. */
const MASK = /^(?=.*\*)(?=.*\w)[.#]?[\w*-]+$/;
const ROOTS = new Set(['html', 'head', 'body']);

/** Elements with a tag, id or class that matches the mask; a mask with `.` or `#` matches only classes or ids. */
function masked($: CheerioAPI, mask: string): HtmlElement[] {
  const kind = /^[.#]/.exec(mask)?.[0];
  const pattern = new RegExp(
    `^${mask
      .slice(kind === undefined ? 0 : 1)
      .split(/\*+/)
      .join('.*')}$`,
    'i',
  );
  return everyElement($).filter((element) => {
    const classes = (element.attribs['class'] ?? '').split(/\s+/);
    const ids = [element.attribs['id'] ?? ''];
    const names = kind === '.' ? classes : kind === '#' ? ids : [element.tagName, ...classes, ...ids];
    return names.some((name) => name !== '' && pattern.test(name));
  });
}

function select($: CheerioAPI, option: SelectorError['option'], selector: string, at: number): HtmlElement[] {
  try {
    return $.root().find(selector.trim()).toArray();
  } catch {
    throw new SelectorError(option, at, selector);
  }
}

type NodesOf<T> = T extends Cheerio<infer Node> ? Node : never;

/** An element of a parsed page. */
export type HtmlElement = Extract<NodesOf<ReturnType<CheerioAPI>>, { readonly tagName: string }>;

/** All elements of the page, in document order. */
const everyElement = ($: CheerioAPI): HtmlElement[] => $<HtmlElement, '*'>('*').toArray();
