/** The cleaning steps of a page. Each function changes the document in place. */
import type { CheerioAPI } from 'cheerio';

/** Removes elements that are never visible: scripts, styles, templates. */
export function dropMachinery($: CheerioAPI): void {
  $('script, style, noscript, template, link[rel="stylesheet"]').remove();
}

/** Removes HTML comments, also outside of the body. */
export function dropComments($: CheerioAPI): void {
  $('*')
    .contents()
    .filter((_, node) => node.nodeType === COMMENT)
    .remove();
  $.root()
    .contents()
    .filter((_, node) => node.nodeType === COMMENT)
    .remove();
}

/** Sets the src of each image with a srcset to its largest picture. */
export function resolveSrcset($: CheerioAPI): void {
  $('img[srcset], source[srcset]').each((_, element) => {
    const image = $(element);
    const largest = largestOf(image.attr('srcset') ?? '');
    if (largest !== undefined) image.attr('src', largest);
    image.removeAttr('srcset').removeAttr('sizes');
  });
}

/** The address with the greatest width or density; the first one if there are no descriptors. */
function largestOf(srcset: string): string | undefined {
  let largest: { readonly address: string; readonly size: number } | undefined;
  for (const candidate of srcset.split(/,\s+|,$/)) {
    const [address = '', descriptor = '1x'] = candidate.trim().split(/\s+/);
    const size = Number.parseFloat(descriptor);
    if (address !== '' && (largest === undefined || size > largest.size)) largest = { address, size };
  }
  return largest?.address;
}

/** Removes images that are embedded as base64. */
export function dropBase64Images($: CheerioAPI): void {
  $('img, source, image').each((_, element) => {
    const image = $(element);
    const addresses = [image.attr('src'), image.attr('href'), image.attr('xlink:href')];
    if (addresses.some((address) => address !== undefined && isBase64(address))) image.remove();
  });
}

const isBase64 = (address: string): boolean => /^\s*data:image\/[^,]*;base64,/i.test(address);

/** The DOM node type of comments. */
const COMMENT = 8;
