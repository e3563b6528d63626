/** The report as one HTML file that fetches nothing and runs no script. */
import { instant } from './figures.ts';
import { html, type Markup, named, trusted } from './markup.ts';
import type { Report } from './report.ts';
import { balanceSection } from './sections/balance.ts';
import { callsSection } from './sections/calls.ts';
import { coverageSection } from './sections/coverage.ts';
import { growthSection } from './sections/growth.ts';
import { qualitySection } from './sections/quality.ts';
import type { Section } from './sections/section.ts';
import { spendSection } from './sections/spend.ts';
import { attention, keyFacts } from './sections/summary.ts';
import { syncsSection } from './sections/syncs.ts';
import { policyDigest } from '../text/policy-digest.ts';
import { STYLE } from './style.ts';
import { dayTime, timeOf } from './table.ts';

const SECTIONS = [
  spendSection,
  balanceSection,
  syncsSection,
  coverageSection,
  growthSection,
  qualitySection,
  callsSection,
];

/** The page. Its content security policy allows only its own style: no script, image, base URL or form. */
export function reportPage(report: Report): string {
  const sections = SECTIONS.map((sectionOf) => sectionOf(report));
  const { days, madeAt, schema } = report;
  const policy = `default-src 'none'; style-src '${policyDigest(STYLE)}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Sluice report, ${instant(madeAt)}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the figures</a>
<header>
<h1>Sluice report</h1>
<p>Schema ${named(schema)}, ${dayTime(days[0] ?? '')} to ${dayTime(days.at(-1) ?? '')}. Created ${timeOf(madeAt)} from the warehouse alone.</p>
${keyFacts(report)}
</header>
<nav aria-label="Sections"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
<main id="main" tabindex="-1">
${attention(report)}
${sections.map(sectionMarkup)}</main>
<footer><p>Created by <code>sluice report</code>. All days and times are UTC. Points are the service’s unit of cost.</p></footer>
</body>
</html>
`.markup;
}

const sectionMarkup = ({ id, title, body }: Section): Markup =>
  html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>
`;
