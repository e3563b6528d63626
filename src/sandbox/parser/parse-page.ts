/** Parses one page as the options of a request say: the answer's item, made with an HTML library from any HTML. */
import * as cheerio from 'cheerio';
import type { Wire } from '../wire.ts';
import { dropBase64Images, dropComments, dropMachinery, resolveSrcset } from './clean.ts';
import { emailsOf, linksOf, phonesOf } from './contacts.ts';
import { mainContent } from './main-content.ts';
import { descriptionOf, metadataOf, titleOf } from './metadata.ts';
import type { ParseOptions } from './options.ts';
import { exclude, include } from './select.ts';

/**
 * The item that answers a parse of this HTML, found at `url`.
 * Throws a SelectorError when a selector of the options is none.
 */
export function parsePage(html: string, url: string, options: ParseOptions): Wire {
  const $ = cheerio.load(html);
  const told = { '@type': '@web_parser_result', url, title: titleOf($) };
  const found = contactsOf($, url, options);
  if (options.extract_minimal) return { ...told, cleaned_html: '', meta_description: null, ...found };
  return {
    ...told,
    meta_description: descriptionOf($),
    metadata: metadataOf($),
    cleaned_html: contentOf($, options),
    ...found,
  };
}

/**
 * Links, addresses and numbers, from the whole page whatever content is kept of it.
 * Assumed: contacts stand in headers and footers, so an answer that took them from the kept content alone would have none.
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

/** Text with a line for each block. */
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
