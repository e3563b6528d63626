/** Links, e-mail addresses and phone numbers of a page, without duplicates, in the order of the page. */
import type { CheerioAPI } from 'cheerio';

/** The hosts of the sandbox's social networks. */
const SOCIAL_HOSTS = ['pronet.example', 'microblog.example', 'photoshare.example'];

/** Absolute http and https addresses of the page's links, without links that only scroll. */
export function linksOf(
  $: CheerioAPI,
  pageUrl: string,
  only: { readonly sameOrigin: boolean; readonly social: boolean },
): string[] {
  const page = new URL(pageUrl);
  const base = baseOf($, page);
  const links = $('a[href], area[href]')
    .toArray()
    .flatMap((element) => {
      const href = ($(element).attr('href') ?? '').trim();
      return href === '' || href.startsWith('#') || !URL.canParse(href, base.href) ? [] : [new URL(href, base)];
    })
    .filter(({ protocol }) => protocol === 'http:' || protocol === 'https:')
    .filter((link) => !only.sameOrigin || bareHost(link) === bareHost(page))
    .filter((link) => !only.social || SOCIAL_HOSTS.includes(bareHost(link)));
  return [...new Set(links.map(({ href }) => href))];
}

function baseOf($: CheerioAPI, page: URL): URL {
  const href = $('base[href]').first().attr('href');
  return href !== undefined && URL.canParse(href, page.href) ? new URL(href, page) : page;
}

const bareHost = ({ hostname }: URL): string => hostname.replace(/^www\./, '');

/** E-mail addresses in the page's text and in its mailto links. */
export function emailsOf($: CheerioAPI): string[] {
  const linked = hrefs($, 'mailto:').map((target) => target.split('?')[0] ?? '');
  return unique([...linked, ...(visibleText($).match(EMAIL) ?? [])].map((email) => email.toLowerCase()));
}

/** The length of each part is bounded. Without bounds, long runs of letters take quadratic time. */
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}/g;

/** Phone numbers in the page's text and in its tel links, as digits with a leading plus if present. */
export function phonesOf($: CheerioAPI): string[] {
  const written = visibleText($).match(PHONE) ?? [];
  return unique([...hrefs($, 'tel:'), ...written].map((phone) => phone.replaceAll(/[^\d+]/g, ''))).filter(
    (phone) => phone.replaceAll(/\D/g, '').length >= 8,
  );
}

/** Only numbers with a country code, since other numbers look like years, prices or sizes. */
const PHONE = /\+\d[\d\s().-]{6,}\d/g;

const hrefs = ($: CheerioAPI, scheme: string): string[] =>
  $('a[href]')
    .toArray()
    .map((element) => ($(element).attr('href') ?? '').trim())
    .filter((href) => href.toLowerCase().startsWith(scheme))
    .map((href) => decoded(href.slice(scheme.length)));

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The text of the body without scripts and styles, with blanks between its parts. */
function visibleText($: CheerioAPI): string {
  const texts: string[] = [];
  $('body')
    .find('*')
    .addBack()
    .not('script, style, noscript, template')
    .contents()
    .each((_, node) => {
      if (node.nodeType === TEXT) texts.push(node.data);
    });
  return texts.join(' ');
}

/** The DOM node type of texts. */
const TEXT = 3;

const unique = (texts: readonly string[]): string[] => [...new Set(texts.filter((text) => text !== ''))];
