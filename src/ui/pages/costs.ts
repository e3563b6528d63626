/** Points by day and endpoint as charts, then the sums of syncs. */
import { type CostGroup, readCostsBy } from '../../insight/costs.ts';
import { html, type Markup, named } from '../../report/markup.ts';
import { shownDays } from '../../report/read-report.ts';
import { readMoney } from '../../report/reading/money.ts';
import { balanceSection } from '../../report/sections/balance.ts';
import type { Section } from '../../report/sections/section.ts';
import { spendSection } from '../../report/sections/spend.ts';
import { column, figure, tableOf } from '../../report/table.ts';
import type { Page, ConsoleView } from '../view.ts';

export async function costsPage(view: ConsoleView): Promise<Page> {
  const { db, schema, now, redact, warehouse } = view;
  const days = await shownDays(db, schema, now);
  const money = await readMoney({ db, schema, redact, days });
  const report = { days, ...(money && { money }) };
  const bySync = money ? await readCostsBy(warehouse, 'sync', days[0]) : [];
  return {
    title: 'Costs',
    body: html`${sectionOf(spendSection(report))}
${bySync.length > 0 && html`<section><h2>Spend by sync</h2>${syncTable(bySync)}</section>`}
${sectionOf(balanceSection(report))}`,
  };
}

const sectionOf = ({ id, title, body }: Section): Markup =>
  html`<section id="${id}"><h2>${title}</h2>${body}</section>`;

const syncTable = (groups: readonly CostGroup[]): Markup =>
  tableOf(groups, {
    id: 'by-sync',
    caption: 'Points by sync, most expensive first',
    columns: [
      column('Sync', ({ name }) => named(name)),
      figure('Points', ({ points }) => points),
      figure('Requests', ({ requests }) => requests),
      figure('Failed requests', ({ failedRequests }) => failedRequests),
      figure('Points for failed', ({ failedPoints }) => failedPoints),
    ],
  });
