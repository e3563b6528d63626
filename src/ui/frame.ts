/** The frame of every page: navigation, style and the headers that keep a browser from running anything. */
import { instant } from '../report/figures.ts';
import { type Content, html, trusted } from '../report/markup.ts';
import { STYLE } from '../report/style.ts';
import { policyDigest } from '../text/policy-digest.ts';
import type { Page } from './view.ts';

const UI_STYLE = `
body { padding-top: 0; }
nav .brand { font-weight: 650; padding: .6rem 0; }
nav a[aria-current] { font-weight: 600; color: var(--text); box-shadow: inset 0 -2px var(--mark); }
h1 { margin-top: 2rem; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; }
section > h2 { margin-top: 0; }
main > section:first-of-type { margin-top: 2rem; }
.filters { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; margin-top: 1rem; }
.filters select, .filters button { height: 2.125rem; }
label { color: var(--soft); font-size: .875rem; }
.filters label { display: grid; gap: .25rem; }
select, button, textarea { font: inherit; font-size: .875rem; color: var(--text); background: var(--page); border: 1px solid var(--idle); border-radius: 4px; padding: .35rem .7rem; max-width: 100%; }
button { cursor: pointer; background: var(--band); }
button:hover { border-color: var(--link); }
textarea { display: block; width: 100%; margin-top: .25rem; font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; resize: vertical; }
.sql { margin-top: 1rem; }
.sql p { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; margin-top: .75rem; font-size: .875rem; }
.details { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: .35rem 1.5rem; margin-top: 1rem; font-size: .875rem; }
.details dt { color: var(--soft); }
.details dd { overflow-wrap: anywhere; }
pre { margin: .75rem 0 0; padding: .75rem 1rem; max-height: 32rem; overflow: auto; background: var(--band); border-radius: 4px; font: .8125rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.pager { display: flex; gap: 1.5rem; margin-top: 1rem; }
.lines { list-style: none; padding: 0; margin-top: 1rem; }
.lines li + li { margin-top: .35rem; }
.problem { margin-top: 1.5rem; padding: .75rem 1rem; border-left: 3px solid var(--bad); background: var(--band); overflow-wrap: anywhere; }
.empty { margin-top: 1.5rem; }
tbody th { min-width: 0; max-width: none; }
tbody th, .name, #rows th, #rows td:not(.long) { white-space: nowrap; }
tbody th wbr { display: none; }
.sql + .fine { margin-top: 1rem; }
#rows code, tbody th bdi { overflow-wrap: normal; }
#rows .long { min-width: 22rem; }
#rows .long bdi { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
.actions { display: flex; gap: 1.5rem; margin-top: 1rem; }
@media (max-width: 40rem) { .details { grid-template-columns: 1fr; gap: 0; } .details dd { margin-bottom: .5rem; } }
`;

const ALL_STYLE = STYLE + UI_STYLE;

/** The headers of every response. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src '${policyDigest(ALL_STYLE)}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

const AREAS: readonly (readonly [path: string, title: string])[] = [
  ['/', 'Overview'],
  ['/runs', 'Runs'],
  ['/requests', 'Requests'],
  ['/costs', 'Costs'],
  ['/coverage', 'Coverage'],
  ['/quarantine', 'Quarantine'],
  ['/tables', 'Tables'],
  ['/sql', 'SQL'],
  ['/plan', 'Plan'],
];

/** The complete page, at this path. */
export function framed({ title, body }: Page, path: string, madeAt: Date): string {
  const area = `/${path.split('/')[1] ?? ''}`;
  const current = (of: string): Content => of === area && html` aria-current="${of === path ? 'page' : 'true'}"`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sluice</title>
<style>${trusted(ALL_STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<nav aria-label="Pages"><ul><li class="brand">Sluice</li>${AREAS.map(([of, name]) => html`<li><a href="${of}"${current(of)}>${name}</a></li>`)}</ul></nav>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
<footer><p>Read ${instant(madeAt)}. All days and times are UTC. Points are the service’s unit of cost. This console only reads.</p></footer>
</body>
</html>
`.markup;
}
