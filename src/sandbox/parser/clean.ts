/** What is taken out of a page before it counts as clean. Each function changes the document in place. */
import type { CheerioAPI } from 'cheerio';

/** Drops what never shows: scripts, styles, templates. */
export function dropMachinery($: CheerioAPI): void {
  $('script, style, noscript, template, link[rel="stylesheet"]').remove();
}

/** Drops HTML comments, wherever they stand. */
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

/** Gives every image with a srcset its largest picture as src. */
export function resolveSrcset($: CheerioAPI): void {
  $('img[srcset], source[srcset]').each((_, element) => {
    const image = $(element);
    const largest = largestOf(image.attr('srcset') ?? '');
    if (largest !== undefined) image.attr('src', largest);
    image.removeAttr('srcset').removeAttr('sizes');
  });
}

/** The address with the greatest width or density; the first when none is told. */
function largestOf(srcset: string): string | undefined {
  let largest: { readonly address: string; readonly size: number } | undefined;
  for (const candidate of srcset.split(/,\s+|,$/)) {
    const [address = '', descriptor = '1x'] = candidate.trim().split(/\s+/);
    const size = Number.parseFloat(descriptor);
    if (address !== '' && (largest === undefined || size > largest.size)) largest = { address, size };
  }
  return largest?.address;
}

/** Drops images that are embedded in the page as base64. */
export function dropBase64Images($: CheerioAPI): void {
  $('img, source, image').each((_, element) => {
    const image = $(element);
    const addresses = [image.attr('src'), image.attr('href'), image.attr('xlink:href')];
    if (addresses.some((address) => address !== undefined && isBase64(address))) image.remove();
  });
}

const isBase64 = (address: string): boolean => /^\s*data:image\/[^,]*;base64,/i.test(address);

/** The DOM's number for comments. */
const COMMENT = 8;
