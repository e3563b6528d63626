/** The first page: each sync with its newest run, the points left, active alerts, and what needs attention. */
import { type AlertState, listAlerts } from '../../alerts/store.ts';
import { html, type Markup, named } from '../../report/markup.ts';
import { shownDays } from '../../report/read-report.ts';
import { readMoney } from '../../report/reading/money.ts';
import { readFailingChecks, readQuality, readSlices, readSyncs } from '../../report/reading/syncs.ts';
import { attention, keyFacts } from '../../report/sections/summary.ts';
import { syncsSection } from '../../report/sections/syncs.ts';
import { column, tableOf, timeOf } from '../../report/table.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { syncLink } from '../parts.ts';
import type { Page, ConsoleView } from '../view.ts';

/** The pages with the sections that the summary of a report links to. */
const PAGES: Readonly<Record<string, string>> = {
  balance: '/costs#balance',
  coverage: '/coverage',
  quality: '/quarantine',
  spend: '/costs#spend',
};

export async function overviewPage(view: ConsoleView): Promise<Page> {
  const { db, schema, now, redact, warehouse } = view;
  const source = { db, schema, redact, days: await shownDays(db, schema, now) };
  const money = await readMoney(source);
  const figures = {
    days: source.days,
    madeAt: now,
    ...(money && { money }),
    syncs: await readSyncs(source),
    failingChecks: await readFailingChecks(source),
    coverage: (await readSlices(source)).coverage,
    quality: await readQuality(source),
  };
  const alerts = await listAlerts(operationsOf(warehouse), 'active');
  const notRun = view.syncs.map(({ name }) => name).filter((name) => !figures.syncs.some(({ sync }) => sync === name));
  const { title, body } = syncsSection(figures, syncLink);
  return {
    title: 'Overview',
    body: html`${keyFacts(figures)}
${attention(figures, (section) => PAGES[section] ?? '/runs')}
${alerts.length > 0 && alertsSection(alerts, redact)}
<section><h2>${title}</h2>${body}
${notRun.length > 0 && html`<p class="fine">Not run yet: ${notRun.map((name, index) => html`${index > 0 && ', '}${named(name)}`)}. <a href="/plan">Plan them</a>, or run <code>sluice sync</code>.</p>`}</section>`,
  };
}

const alertsSection = (alerts: readonly AlertState[], redact: ConsoleView['redact']): Markup =>
  html`<section><h2>Active alerts</h2>
${tableOf(alerts, {
  id: 'alerts',
  caption: 'Active alerts, newest first',
  columns: [
    column('Sync', ({ sync }) => named(sync)),
    column('Kind', ({ kind }) => kind.replaceAll('_', ' ')),
    column('Since', ({ since }) => timeOf(since)),
    column(
      'Reason',
      ({ because, next }) =>
        html`${named(redact(because))}${next !== null && html`<span class="sub">${named(redact(next))}</span>`}`,
      'long',
    ),
  ],
})}</section>`;
