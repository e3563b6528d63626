/** The style of the page for light and dark mode, narrow and wide screens, and print. The colours suit colour-blind readers. */

/** The style sheet. The content security policy of the page contains its digest. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fdfdfc; --text: #1d2126; --soft: #5c6570; --line: #dfe3e6; --band: #f3f5f5;
  --mark: #2f6f9f; --fill: #d5e4ee; --good: #2f6f9f; --warn: #b06a00; --bad: #b3261e; --idle: #aab4bd; --link: #1f5c88;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums lining-nums;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --text: #e4e7ea; --soft: #9aa4ae; --line: #2f363c; --band: #1c2125;
    --mark: #6aabd8; --fill: #213b4d; --good: #6aabd8; --warn: #e3a33b; --bad: #ff8a7a; --idle: #5d6872; --link: #8cc1e8;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 3.5rem; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem clamp(1rem, 4vw, 3rem) 4rem; background: var(--page); color: var(--text); }
h1, h2, h3, p, dl, dd, ul, figure { margin: 0; padding: 0; }
h1 { font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; }
h3 { font-size: 1rem; font-weight: 600; overflow-wrap: anywhere; }
h3.set { margin-top: 2rem; }
header > p, .lead, .note, .sub, footer, .fine, .empty { color: var(--soft); }
.lead, .fine, .empty { max-width: 52rem; margin-top: .25rem; text-wrap: pretty; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
code { font: .9em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
strong { font-weight: 650; }
bdi { overflow-wrap: anywhere; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; }

.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 1.25rem 1.5rem; margin-top: 1.5rem; padding: 1.25rem 0; border-block: 1px solid var(--line); }
.facts dt { color: var(--soft); font-size: .875rem; }
.facts dd strong { display: block; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; }
.facts dd span { font-size: .875rem; color: var(--soft); }

nav { position: sticky; top: 0; z-index: 1; background: var(--page); border-bottom: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.5rem; list-style: none; white-space: nowrap; }
nav a { display: block; padding: .6rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }

section { margin-top: 3rem; }
section ul { margin-top: .5rem; padding-left: 1.1rem; max-width: 54rem; }
section li { margin-top: .25rem; }
figure { margin-top: 1.25rem; min-width: 0; break-inside: avoid; }
figcaption { display: grid; grid-template-columns: 1fr auto; column-gap: 1rem; align-items: baseline; }
.total { font-weight: 600; white-space: nowrap; }
.note { grid-column: 1 / -1; font-size: .875rem; }
.multiples { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: .75rem 2.5rem; }

svg { display: block; overflow: visible; }
.chart { margin-top: .5rem; padding-left: 44px; }
.chart .bar, .strip .bar { fill: var(--mark); }
.fill { fill: var(--fill); }
.edge, .expected { fill: none; stroke: var(--mark); stroke-width: 1.75; vector-effect: non-scaling-stroke; }
.expected { stroke-dasharray: 5 4; }
.rule { stroke: var(--line); stroke-width: 1; shape-rendering: crispEdges; }
.floor { stroke: var(--idle); stroke-width: 1; shape-rendering: crispEdges; }
.tick { fill: var(--soft); font-size: 12px; font-weight: 400; paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.tick.start { text-anchor: start; } .tick.middle { text-anchor: middle; } .tick.end { text-anchor: end; }
.tip { fill: transparent; }
g:hover > .tip { fill: var(--idle); fill-opacity: .25; }
rect.good, .good circle { fill: var(--good); }
rect.warn, .warn path { fill: var(--warn); }
rect.bad { fill: var(--bad); }
rect.idle { fill: var(--idle); }
.cross { fill: none; stroke: var(--bad); stroke-width: 2.25; stroke-linecap: round; }
.ring, .idle .ring { fill: var(--page); stroke: var(--mark); stroke-width: 1.5; }
.whisker { stroke: var(--mark); stroke-width: 1.25; }
.state { white-space: nowrap; }
.state svg { display: inline-block; vertical-align: -1px; margin-right: .15rem; }
.state.bad, .state.warn { font-weight: 600; }
.key { margin-right: .75rem; white-space: nowrap; }
.key i { display: inline-block; width: .7rem; height: .7rem; margin-right: .3rem; vertical-align: -1px; background: var(--good); }
.key i.warn { background: var(--warn); }
.key i.idle { background: var(--idle); height: .3rem; vertical-align: 0; }

.scroll { overflow-x: auto; margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; line-height: 1.4; }
th, td { padding: .45rem 1.25rem .45rem 0; text-align: left; vertical-align: top; font-weight: 400; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { vertical-align: bottom; color: var(--soft); border-bottom-color: var(--idle); }
tbody th { min-width: 12.5rem; max-width: 22rem; }
tfoot th, tfoot td { font-weight: 600; border-bottom: 0; }
.figure { text-align: right; white-space: nowrap; }
thead .figure { white-space: normal; min-width: 4.5rem; }
.drawing { width: 34%; min-width: 13rem; }
thead .drawing { vertical-align: bottom; }
.outcome { min-width: 11rem; max-width: 22rem; }
.long { min-width: 14rem; max-width: 32rem; }
time { white-space: nowrap; }
.sub { display: block; font-size: .8125rem; }
.quiet { color: var(--soft); }

details { margin-top: .75rem; }
details + .lead, figure + .lead { margin-top: 1.25rem; }
summary { cursor: pointer; color: var(--link); font-size: .875rem; width: fit-content; }
details .scroll { max-height: 26rem; overflow: auto; border: 1px solid var(--line); padding: 0 .75rem; }
details thead th { position: sticky; top: 0; background: var(--page); }
details thead th { min-width: 6.5rem; }
details thead bdi { overflow-wrap: normal; }
details tbody th { min-width: 0; white-space: nowrap; }
details th, details td { padding-block: .2rem; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .875rem; }

/* The navigation may take two lines. */
@media (max-width: 76rem) { html { scroll-padding-top: 6rem; } }
@media (max-width: 40rem) {
  html { scroll-padding-top: 1rem; }
  nav { position: static; }
}

@media print {
  :root { color-scheme: light; --page: #ffffff; --text: #000000; --soft: #444444; --line: #cccccc; --idle: #999999; --mark: #2f6f9f; --fill: #d5e4ee; --good: #2f6f9f; --warn: #b06a00; --bad: #b3261e; --link: #000000; font-size: 10pt; }
  @page { margin: 15mm 14mm; }
  body { max-width: none; padding: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav, .skip, details:not([open]), section li a { display: none; }
  section { margin-top: 1.75rem; }
  h2, h3, h3.set + .lead { break-after: avoid; }
  tr, .facts div { break-inside: avoid; }
  .scroll, details .scroll { overflow: visible; max-height: none; border: 0; padding: 0; }
  details thead bdi { overflow-wrap: anywhere; }
  .multiples { grid-template-columns: 1fr 1fr; }
  table { font-size: .8rem; }
  th, td { padding-right: .5rem; }
  .drawing { min-width: 0; width: 24%; }
  .long, .outcome { min-width: 0; max-width: 14rem; }
  tbody th { min-width: 8.5rem; }
  .facts { grid-template-columns: repeat(6, 1fr); gap: 1rem; }
  .figure, thead .figure { min-width: 0; }
  thead { display: table-header-group; }
  tfoot { display: table-row-group; }
}
`;
