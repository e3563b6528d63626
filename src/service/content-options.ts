/** The options that shape the content of a parsed page. A request carries them, and they are part of the page's key. */
import * as z from 'zod';

export const contentOptions = {
  include_tags: z.array(z.string()).nullish().describe('CSS selectors; keep only these elements.'),
  exclude_tags: z.array(z.string()).nullish().describe('CSS selectors or wildcard masks to drop.'),
  only_main_content: z.boolean().default(false).describe('Find the main content and keep only that.'),
  remove_comments: z.boolean().default(true).describe('Drop HTML comments.'),
  resolve_srcset: z.boolean().default(true).describe('Turn srcset into src, choosing the largest image.'),
  return_full_html: z.boolean().default(false).describe('Return the complete document, not only its body.'),
  min_text_block: z
    .int()
    .min(0)
    .default(200)
    .describe('Minimum number of characters of a text block to count as main content.'),
  remove_base64_images: z.boolean().default(true).describe('Drop images embedded as base64.'),
  strip_all_tags: z.boolean().default(false).describe('Return plain text only.'),
  extract_contacts: z.boolean().default(false).describe('Extract links, e-mail addresses and phone numbers.'),
  same_origin_links: z.boolean().default(false).describe('Keep only extracted links to the same domain.'),
  social_links_only: z.boolean().default(false).describe('Keep only extracted links to social media.'),
  extract_minimal: z
    .boolean()
    .default(false)
    .describe('Extract only links and title, and contacts if `extract_contacts` is on.'),
};

/** The contract's default of each option. */
export const CONTENT_DEFAULTS: Readonly<Record<string, unknown>> = z.object(contentOptions).parse({});
