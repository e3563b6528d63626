/** Web pages as parsed by the service. */
import type { RequestBody } from '../request-body.ts';
import { CONTENT_DEFAULTS } from '../content-options.ts';
import { fromRequest, json, onlyWith, required, text, texts, identifier, personal } from '../field.ts';
import { canonicalJson, digestOf } from '../canonical-json.ts';
import { resource } from '../resource.ts';

/** An option with its default value does not identify the page. */
const optionsOf = (request: RequestBody): RequestBody =>
  Object.fromEntries(
    Object.entries(request).filter(([name, value]) => name !== 'url' && value !== CONTENT_DEFAULTS[name]),
  );

const pageKeyOf = (request: RequestBody): string => digestOf(canonicalJson([request['url'], optionsOf(request)]));

export const webPage = resource({
  name: 'WebParserResult',
  tag: '@web_parser_result',
  table: 'web_pages',
  noun: 'page',
  topic: 'Web pages',
  about: 'Web pages as parsed: one row per requested address and set of content options.',
  key: ['page_key'],
  filters: ['requested_url'],
  digested: ['cleaned_html'],
  identifiedBy: { requested_url: 'name', url: 'name' },
  fields: {
    page_key: identifier(
      fromRequest('text', 'SHA-256, in hex, of the requested address and the content options.', ({ request }) =>
        pageKeyOf(request),
      ),
    ),
    requested_url: personal(fromRequest('text', 'Requested address.', ({ request }) => request['url'])),
    options: fromRequest('json', 'Content options that differ from the service’s defaults.', ({ request }) =>
      optionsOf(request),
    ),
    cleaned_html: personal(required(text('Content of the page after cleaning; may be empty.'))),
    url: personal(
      required(text('Address of the original page; after redirects it may differ from the requested address.')),
    ),
    title: personal(text('Title of the page.')),
    meta_description: personal(text('Description in the page’s head.')),
    metadata: personal(json('Further metadata, as sent.')),
    links: personal(
      onlyWith(texts('Addresses that the page links to.', 'link'), 'extract_contacts', 'extract_minimal'),
    ),
    emails: personal(onlyWith(texts('E-mail addresses on the page.', 'email'), 'extract_contacts')),
    phones: personal(onlyWith(texts('Phone numbers on the page.', 'phone'), 'extract_contacts')),
  },
});
