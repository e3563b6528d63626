/** Parses a page with the options of a request, and returns the item of the answer. Works for any HTML. */
import type { Wire } from '../wire.ts';
import { dropBase64Images, dropComments, dropMachinery, resolveSrcset } from './clean.ts';
import { emailsOf, linksOf, phonesOf } from './contacts.ts';
import { mainContent } from './main-content.ts';
import { descriptionOf, metadataOf, titleOf } from './metadata.ts';
import { exclude, include } from './select.ts';

import * as cheerio from 'cheerio';

/** The item for this HTML from `url`. Throws a SelectorError for an invalid selector in the options. */
export function parsePage(html: string, url: string, options: ParseOptions): Wire {
  const $ = cheerio.load(html);
  const base = { '@type': '@web_parser_result', url, title: titleOf($) };
  const found = contactsOf($, url, options);
  if (options.extract_minimal) return { ...base, cleaned_html: '', meta_description: null, ...found };
  return {
    ...base,
    meta_description: descriptionOf($),
    metadata: metadataOf($),
    cleaned_html: contentOf($, options),
    ...found,
  };
}

/**
 * Links, e-mail addresses and phone numbers of the complete page, independent of the kept content. Assumed: contacts
 * are in headers and footers, so the kept content alone would often have none.
 */
function contactsOf($: cheerio.CheerioAPI, url: string, options: ParseOptions): Wire {
  const links = linksOf($, url, { sameOrigin: options.same_origin_links, social: options.social_links_only });
  return {
    ...((options.extract_contacts || options.extract_minimal) && { links }),
    emails: options.extract_contacts ? emailsOf($) : null,
    phones: options.extract_contacts ? phonesOf($) : null,
  };
}

function contentOf($: cheerio.CheerioAPI, options: ParseOptions): string {
  exclude($, options.exclude_tags ?? []);
  dropMachinery($);
  if (options.remove_comments) dropComments($);
  if (options.resolve_srcset) resolveSrcset($);
  if (options.remove_base64_images) dropBase64Images($);
  const chosen = options.only_main_content ? mainContent($, options.min_text_block) : undefined;
  if (chosen !== undefined) $('body').empty().append(chosen);
  const kept = include($, options.include_tags ?? []);
  if (kept !== undefined) $('body').empty().append(kept);
  if (options.strip_all_tags) return plainText($, options.return_full_html);
  return (options.return_full_html ? $.html() : ($('body').html() ?? '')).trim();
}

/** The text with one line per block. */
function plainText($: cheerio.CheerioAPI, full: boolean): string {
  $('br').replaceWith('\n');
  $(BLOCKS).each((_, element) => {
    $(element).prepend('\n').append('\n');
  });
  const title = full ? `${$('title').text()}\n` : '';
  return `${title}${$('body').text()}`
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}

const BLOCKS =
  'p, div, section, article, main, header, footer, aside, nav, address, figure, ul, ol, li, table, tr, h1, h2, h3, h4, h5, h6, pre, blockquote';

export interface ParseOptions {
  readonly include_tags?: readonly string[] | null | undefined;
  readonly exclude_tags?: readonly string[] | null | undefined;
  readonly only_main_content: boolean;
  readonly remove_comments: boolean;
  readonly resolve_srcset: boolean;
  readonly return_full_html: boolean;
  readonly min_text_block: number;
  readonly remove_base64_images: boolean;
  readonly strip_all_tags: boolean;
  readonly extract_contacts: boolean;
  readonly same_origin_links: boolean;
  readonly social_links_only: boolean;
  readonly extract_minimal: boolean;
}
