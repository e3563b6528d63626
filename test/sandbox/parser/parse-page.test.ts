/** Each of the fifteen options of a parse, on a page written for it and on the sandbox's own. */
import { load } from 'cheerio';
import { describe, expect, it } from 'vitest';
import type { ParseOptions } from '../../../src/sandbox/parser/parse-page.ts';
import { parsePage } from '../../../src/sandbox/parser/parse-page.ts';
import { ask, startSandbox } from '../client.ts';
import type { ParsedPage } from '../items.ts';

const URL_ASKED = 'https://www.shop.example/deep/page?x=1';
const DEFAULTS: ParseOptions = {
  only_main_content: false,
  remove_comments: true,
  resolve_srcset: true,
  return_full_html: false,
  min_text_block: 200,
  remove_base64_images: true,
  strip_all_tags: false,
  extract_contacts: false,
  same_origin_links: false,
  social_links_only: false,
  extract_minimal: false,
};
const LONG = 'A long sentence that says very little about the shop. '.repeat(6).trim();
const PAGE = `<!DOCTYPE html><!-- before --><html lang="en"><head>
<title> The shop </title>
<meta name="description" content="All we sell &amp; more">
<meta property="og:title" content="Shop"><meta name="robots" content="index">
<link rel="canonical" href="https://shop.example/page"><link rel="stylesheet" href="x.css">
<style>p { color: red }</style></head>
<body>
<!-- in the body -->
<nav id="menu"><a href="/">Home</a> <a href="/deep/page#part">Here</a></nav>
<header>Short head</header>
<div class="ad-top big">Buy!</div><div id="sponsored-ad">More!</div><ad-box>Most!</ad-box><div class="shade">Kept</div>
<section id="talk">${'<div><p>Much small talk, in short pieces, as people talk.</p></div>'.repeat(40)}</section>
<main><article class="story"><h1>Story</h1><p>${LONG}</p><p class="aside">Short.</p><p>${LONG} Twice.</p>
<img src="a.jpg" srcset="a-1.jpg 480w, a-3.jpg 1600w, a-2.jpg 960w" sizes="10px">
<img src="b.jpg" srcset="b-1.jpg, b-2.jpg 2x"><img class="pixel" src="data:image/png;base64,AAAA"><img src="data:image/svg+xml,x">
</article></main>
<a href="https://shop.example/other">Other</a><a href="//cdn.example/file">File</a><a href="mailto:Hello@shop.example?subject=x">Write</a>
<a href="https://microblog.example/shop">Follow</a><a href="https://www.photoshare.example/shop/">See</a><a href="https://notmicroblog.example/">No</a>
<a href="tel:+49%2030%201234567">Call</a><a href="javascript:void(0)">Script</a><a href="http://[bad">Bad</a><a href="/">Home again</a>
<p>sales@shop.example or hello@shop.example, +1 (212) 555-0100, 2024-01-01, 12345.</p>
<footer>© <p>footer text</p></footer><script>var a = "no@script.example";</script>
</body></html><!-- after -->`;

const parse = (options: Partial<ParseOptions> = {}, html = PAGE): ParsedPage =>
  parsePage(html, URL_ASKED, { ...DEFAULTS, ...options }) as unknown as ParsedPage;
const html = (options: Partial<ParseOptions> = {}): string => parse(options).cleaned_html;
const text = (options: Partial<ParseOptions> = {}): string => load(html(options)).text();

describe('a parse', () => {
  it('returns the address, the title, the description and the metadata', () => {
    expect(parse()).toMatchObject({
      '@type': '@web_parser_result',
      url: URL_ASKED,
      title: 'The shop',
      meta_description: 'All we sell & more',
      metadata: { 'og:title': 'Shop', robots: 'index', lang: 'en', canonical: 'https://shop.example/page' },
      emails: null,
      phones: null,
    });
    expect(parse()).not.toHaveProperty('links');
  });

  it('takes the title from the heading and has no description when the head is silent', () => {
    expect(parse({}, '<h1>Only a heading</h1>')).toMatchObject({
      title: 'Only a heading',
      meta_description: null,
      metadata: {},
    });
    expect(parse({}, '')).toMatchObject({ title: null, cleaned_html: '' });
  });

  it('always drops scripts and styles', () => {
    for (const return_full_html of [true, false])
      expect(html({ return_full_html })).not.toMatch(/<script|<style|stylesheet/);
  });
});

describe('include_tags', () => {
  it('keeps only what the selectors choose, in the page’s order, each once', () => {
    const kept = load(html({ include_tags: ['p.aside', 'h1', 'article p'] }))('body');
    expect(
      kept
        .children()
        .toArray()
        .map((element) => element.tagName),
    ).toEqual(['h1', 'p', 'p', 'p']);
    expect(html({ include_tags: ['article', 'h1'] }).match(/<h1>/g)).toHaveLength(1);
    expect(html({ include_tags: ['video'] })).toBe('');
    expect(html({ include_tags: [] })).toBe(html());
  });
});

describe('exclude_tags', () => {
  it('drops what selectors choose', () => {
    expect(html({ exclude_tags: ['nav', '.story h1', '[id^=talk]'] })).not.toMatch(/<nav|<h1|small talk/);
    expect(html({ exclude_tags: ['nav'] })).toContain('<header');
  });

  it('drops what masks match: tags, classes and ids', () => {
    expect(text({ exclude_tags: ['ad-*'] })).not.toMatch(/Buy!|Most!/);
    expect(text({ exclude_tags: ['ad-*'] })).toMatch(/More!/);
    expect(text({ exclude_tags: ['*-ad'] })).not.toMatch(/More!/);
    const all = text({ exclude_tags: ['*ad*'] });
    expect(all).not.toMatch(/Buy!|More!|Most!|Kept|Short head/);
    expect(all).toMatch(/Story/);
    expect(text({ exclude_tags: ['.ad*'] })).toMatch(/Most!/);
    expect(text({ exclude_tags: ['#*ad'] })).not.toMatch(/More!/);
    expect(text({ exclude_tags: ['#*ad'] })).toMatch(/Buy!/);
  });

  it('takes selectors with a star for selectors, and never drops the complete page', () => {
    expect(html({ exclude_tags: ['a[href*="microblog"]'] })).not.toMatch(/Follow/);
    expect(html({ exclude_tags: ['*ody', '*tml'] })).toContain('Story');
  });

  it('wins over include_tags', () => {
    expect(html({ include_tags: ['article'], exclude_tags: ['h1'] })).not.toContain('<h1');
  });
});

describe('only_main_content and min_text_block', () => {
  it('keeps what holds the long blocks of text', () => {
    const main = html({ only_main_content: true });
    expect(main).toMatch(/^<article class="story">/);
    expect(main).toContain('Short.');
    expect(main).not.toMatch(/small talk|footer text|Home/);
  });

  it('finds the small talk when small blocks count too', () => {
    const main = html({ only_main_content: true, min_text_block: 0 });
    expect(main).toContain('small talk');
    expect(main).not.toContain('Story');
  });

  it('keeps the page without its frame when no block is long enough', () => {
    const main = html({ only_main_content: true, min_text_block: 10_000 });
    expect(main).toContain('Story');
    expect(main).toContain('small talk');
    expect(main).not.toMatch(/<nav|<footer|<header/);
  });
});

describe('remove_comments', () => {
  it('drops comments, or keeps them', () => {
    expect(html({ return_full_html: true })).not.toContain('<!--');
    expect(html({ return_full_html: true, remove_comments: false }).match(/<!--/g)).toHaveLength(3);
  });
});

describe('resolve_srcset', () => {
  it('puts the largest picture in the place of the first', () => {
    const $ = load(html());
    expect(
      $('article img')
        .toArray()
        .map((image) => image.attribs['src']),
    ).toEqual(['a-3.jpg', 'b-2.jpg', 'data:image/svg+xml,x']);
    expect(html()).not.toMatch(/srcset|sizes/);
    expect(html({ resolve_srcset: false })).toMatch(/src="a.jpg" srcset="a-1.jpg 480w/);
  });
});

describe('return_full_html', () => {
  it('gives the document rather than its body', () => {
    expect(html()).not.toMatch(/<html|<body|<title/);
    expect(html({ return_full_html: true })).toMatch(
      /^<!DOCTYPE html><html lang="en"><head>[^]*<title>[^]*<body>[^]*<\/html>$/,
    );
  });
});

describe('remove_base64_images', () => {
  it('drops pictures embedded as base64, or keeps them', () => {
    expect(html()).not.toContain('base64');
    expect(html()).toContain('data:image/svg+xml,x');
    expect(html({ remove_base64_images: false })).toContain('data:image/png;base64,AAAA');
  });
});

describe('strip_all_tags', () => {
  it('leaves the text, a line a block', () => {
    const plain = html({ strip_all_tags: true, only_main_content: true });
    expect(plain.split('\n')).toEqual(['Story', LONG, 'Short.', `${LONG} Twice.`]);
    expect(html({ strip_all_tags: true })).not.toMatch(/[<>]/);
    expect(html({ strip_all_tags: true, return_full_html: true })).toMatch(/^The shop\n/);
  });
});

const LINKS = [
  'https://www.shop.example/',
  'https://www.shop.example/deep/page#part',
  'https://shop.example/other',
  'https://cdn.example/file',
  'https://microblog.example/shop',
  'https://www.photoshare.example/shop/',
  'https://notmicroblog.example/',
];

describe('extract_contacts', () => {
  it('gives absolute links, addresses and numbers, each once', () => {
    const { links, emails, phones } = parse({ extract_contacts: true });
    expect(links).toEqual(LINKS);
    expect(emails).toEqual(['hello@shop.example', 'sales@shop.example']);
    expect(phones).toEqual(['+49301234567', '+12125550100']);
  });

  it('returns them from the complete page, whatever content is kept', () => {
    const kept = { include_tags: ['h1'], exclude_tags: ['nav', 'p'], only_main_content: true };
    expect(parse({ ...kept, extract_contacts: true })).toMatchObject({
      links: LINKS,
      emails: [expect.any(String), 'sales@shop.example'],
    });
  });

  it('gives empty lists where there is nothing', () => {
    expect(parse({ extract_contacts: true }, '<p>Nothing</p>')).toMatchObject({ links: [], emails: [], phones: [] });
  });
});

describe('same_origin_links and social_links_only', () => {
  it('keep the links of the page’s own domain, or to social media', () => {
    expect(parse({ extract_contacts: true, same_origin_links: true }).links).toEqual(LINKS.slice(0, 3));
    expect(parse({ extract_contacts: true, social_links_only: true }).links).toEqual(LINKS.slice(4, 6));
    expect(parse({ extract_contacts: true, social_links_only: true, same_origin_links: true }).links).toEqual([]);
    expect(parse({ same_origin_links: true })).not.toHaveProperty('links');
  });
});

describe('extract_minimal', () => {
  it('returns title and links, and contacts only if requested', () => {
    expect(parse({ extract_minimal: true })).toEqual({
      '@type': '@web_parser_result',
      url: URL_ASKED,
      title: 'The shop',
      meta_description: null,
      cleaned_html: '',
      links: LINKS,
      emails: null,
      phones: null,
    });
    expect(parse({ extract_minimal: true, extract_contacts: true }).phones).toHaveLength(2);
  });
});

describe('the sandbox’s own pages', () => {
  it('are parsed as the request says, over the socket', async () => {
    const sandbox = await startSandbox();
    const parsed = async (options: object): Promise<ParsedPage> => {
      const { items } = await ask<ParsedPage>(sandbox, 'webparser.parse', {
        url: 'https://site-2.example/contact?from=x#part',
        ...options,
      });
      return items[0] as ParsedPage;
    };
    const whole = await parsed({});
    const main = await parsed({ only_main_content: true, extract_contacts: true });
    expect(main.url).toBe('https://site-2.example/contact');
    expect(main.cleaned_html.length).toBeLessThan(whole.cleaned_html.length / 2);
    expect(main.cleaned_html).toMatch(/^<article/);
    expect(main.emails).toEqual(expect.arrayContaining(['hello@site-2.example', 'info@site-2.example']));
    expect(main.phones?.length).toBeGreaterThan(1);
    expect((await parsed({ extract_contacts: true, social_links_only: true })).links).toHaveLength(3);
    expect((await parsed({ exclude_tags: ['ad-*'] })).cleaned_html).not.toMatch(/ad-banner|ad-slot/);
    expect((await parsed({ remove_base64_images: false })).cleaned_html).toContain('base64');
    expect((await parsed({ resolve_srcset: false })).cleaned_html).toContain('srcset');
  });

  it('can be read with a browser', async () => {
    const sandbox = await startSandbox();
    const page = await fetch(`${sandbox.url}/pages/site-1.example/about`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(load(await page.text())('h1').text()).toBe('About us');
    expect((await fetch(`${sandbox.url}/pages/elsewhere.example/`)).status).toBe(404);
    expect(sandbox.requests()).toEqual([]);
  });
});
