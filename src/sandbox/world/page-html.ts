/** Writes the pages of the sandbox's sites, with all constructs that a parser must handle. */
import { between, type Draw, type Drawing, pick } from './draw.ts';
import { FIRST_PARTS, SECOND_PARTS } from './words/companies.ts';
import { paragraph, sentence } from './words/prose.ts';

/** The smallest possible picture, as a data URL. */
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';

const TITLES: Readonly<Record<PagePath, string>> = {
  '/': 'Home',
  '/about': 'About us',
  '/contact': 'Contact',
  '/products': 'Products',
  '/blog/': 'Blog',
  '/blog/post-1': 'What the river taught us',
  '/blog/post-2': 'Notes on a small warehouse',
  '/blog/post-3': 'Ten years of mornings',
  '/blog/post-4': 'A path to the coast',
  '/blog/post-5': 'Questions we are asked',
};

interface Page {
  readonly site: number;
  readonly path: PagePath;
  readonly origin: string;
  readonly name: string;
  readonly title: string;
  /** Identifies the page in draws. */
  readonly index: number;
  readonly prose: Draw;
}

export function pageHtml(draw: Drawing): (site: number, path: PagePath) => string {
  const prose = draw('page prose');
  const names = draw('site name');
  return (site, path) => {
    const name = `${pick(FIRST_PARTS, names(site))} ${pick(SECOND_PARTS, names(site, 1))}`;
    const index = site * PATHS.length + PATHS.indexOf(path);
    const page = {
      site,
      path,
      origin: `https://site-${site}.example`,
      name,
      title: `${TITLES[path]} | ${name}`,
      index,
      prose,
    };
    return `<!DOCTYPE html>
<html lang="en">
${head(page)}
<body class="page site-${site}">
<!-- served by the sandbox -->
${header(page)}
${main(page)}
${aside(page)}
${comments(page)}
${footer(page)}
<script>window.dataLayer = window.dataLayer || []; // <p>not a paragraph</p></script>
</body>
</html>
`;
  };
}

const head = ({ origin, path, name, title, site, index, prose }: Page): string => `<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="description" content="${escaped(sentence(prose, index, 90))}">
<meta name="keywords" content="coffee, trails, data">
<meta name="author" content="${name}">
<meta property="og:title" content="${title}">
<meta property="og:type" content="${path.startsWith('/blog/post') ? 'article' : 'website'}">
<meta property="og:image" content="${origin}/images/cover-${index}.jpg">
<meta name="twitter:card" content="summary">
<link rel="canonical" href="${origin}${path}">
<link rel="stylesheet" href="/style.css">
<style>.ad-banner { color: red }</style>
<script type="application/ld+json">{"@type":"Organization","name":"${name}","url":"${origin}/","site":${site}}</script>
</head>`;

const header = ({ name }: Page): string => `<header id="top" class="site-header">
<a class="logo" href="/"><img src="${PIXEL}" alt="${name}"></a>
<nav class="menu"><ul>
<li><a href="/">Home</a></li><li><a href="/about">About</a></li><li><a href="/products">Products</a></li>
<li><a href="/blog/">Blog</a></li><li><a href="/contact">Contact</a></li>
</ul></nav>
</header>`;

function main(page: Page): string {
  const { prose, index, site, title } = page;
  const long = Array.from(
    { length: between(prose(index, 99), 2, 5) },
    (_, at) => `<p>${escaped(paragraph(prose, index, 4, at * 6))}</p>`,
  );
  const [first, ...rest] = long;
  return `<main id="content"><article class="article">
<h1>${title.split(' | ')[0]}</h1>
<p class="lead">${escaped(sentence(prose, index, 40))}</p>
${first}
<figure><img src="/images/${index}-small.jpg" srcset="/images/${index}-480.jpg 480w, /images/${index}-1600.jpg 1600w, /images/${index}-960.jpg 960w" alt="A view"></figure>
<p class="quote">“${escaped(sentence(prose, index, 41))}”</p>
${rest.join('\n')}
<!-- internal: checked by the editor -->
<img class="pixel" src="${PIXEL}" alt="">
<p>Read <a href="/blog/post-${1 + (index % 5)}">another note</a>, visit <a href="https://site-${1 + (site % 3)}.example/about">our neighbours</a>
or <a href="#top">go up</a>.</p>
${page.path === '/contact' ? contact(page) : ''}</article></main>`;
}

const contact = ({ site, origin }: Page): string => `<address class="contact">
Write to <a href="mailto:hello@site-${site}.example?subject=Hello">hello@site-${site}.example</a> or sales@site-${site}.example,
call <a href="tel:+493055501${String(site % 100).padStart(2, '0')}">+49 30 55501${String(site % 100).padStart(2, '0')}</a>
or +1 (212) 555-01${String(site % 100).padStart(2, '0')}. <a href="${origin}/files/map.pdf">How to find us</a>
</address>
`;

const aside = ({ site, index, prose }: Page): string => `<aside class="sidebar">
<div class="ad-banner" id="ad-1"><a href="https://ads.example/click?site=${site}">${escaped(sentence(prose, index, 50))}</a></div>
<ad-slot data-size="300x250">Sponsored</ad-slot>
<p class="newsletter">Get our letter.</p>
</aside>`;

/** Much text in small blocks: in total longer than the article, but not the main content. */
const comments = ({ index, prose }: Page): string => `<section id="comments">
${Array.from({ length: 30 }, (_, at) => `<div class="comment"><p>${escaped(sentence(prose, index, 60 + at))}</p></div>`).join('\n')}
</section>`;

const footer = ({ site, name, prose, index }: Page): string => `<footer class="site-footer">
<p>© ${name} · <a href="mailto:info@site-${site}.example">info@site-${site}.example</a> · Tel. +44 20 7946 0${String(site % 1000).padStart(3, '0')}</p>
<ul class="social">
<li><a href="https://microblog.example/${pick(['north_trail', 'acme_labs', 'river_coffee'], prose(index, 98))}">Microblog</a></li>
<li><a href="https://photoshare.example/river_coffee/">Photos</a></li>
<li><a href="https://www.pronet.example/company/acme/">Jobs</a></li>
</ul>
</footer>`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

export const PATHS = [
  '/',
  '/about',
  '/contact',
  '/products',
  '/blog/',
  '/blog/post-1',
  '/blog/post-2',
  '/blog/post-3',
  '/blog/post-4',
  '/blog/post-5',
] as const;
type PagePath = (typeof PATHS)[number];

export const isPagePath = (path: string): path is PagePath => (PATHS as readonly string[]).includes(path);
