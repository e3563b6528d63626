/** The top of the page: the most important figures, and what needs attention. */
import { dayNumber, dayOf } from '../../day.ts';
import { withNoun, withThousands, durationText } from '../figures.ts';
import { type Content, html, type Markup, named } from '../markup.ts';
import type { BalanceHistory, Report, SyncState } from '../report.ts';
import { dayTime } from '../table.ts';
import { forecast } from './balance.ts';
import { needsCare, stateMark, toneOf } from './section.ts';

/** The page warns about points that run out within this many days. */
const SOON_DAYS = 30;

/** The parts of a report that the summary shows. The growth of tables may be unknown. */
export type SummarizedReport = Pick<
  Report,
  'days' | 'madeAt' | 'money' | 'syncs' | 'failingChecks' | 'coverage' | 'quality'
> &
  Partial<Pick<Report, 'growth'>>;

interface Fact {
  readonly name: string;
  readonly figure: Content;
  readonly note: Content;
}

/** The most important figures, each with its name and a note. */
export function keyFacts(report: SummarizedReport): Markup {
  return html`<dl class="facts">${factsOf(report).map(
    ({ name, figure, note }) =>
      html`<div><dt>${name}</dt><dd><strong>${figure}</strong><span>${note}</span></dd></div>`,
  )}</dl>`;
}

function factsOf({ days, money, syncs, failingChecks, coverage, quality, growth }: SummarizedReport): Fact[] {
  const balance = money?.balances[0];
  const spent = money?.endpoints.reduce((sum, { points }) => sum + points, 0);
  const failing = new Set(failingChecks.filter(({ severity }) => severity === 'error').map(({ sync }) => sync));
  const well = syncs.filter(({ sync, state }) => !needsCare(state) && !failing.has(sync)).length;
  const bounds = coverage.reduce((sum, { lowerBound }) => sum + lowerBound, 0);
  const open = quality.reduce((sum, { openQuarantine }) => sum + openQuarantine, 0);
  return [
    { name: 'Spent', figure: spent === undefined ? '–' : withThousands(spent), note: `points in ${days.length} days` },
    {
      name: 'Points left',
      figure: balance ? withThousands(balance.points) : '–',
      note: balance ? endOf(balance) : 'unknown',
    },
    {
      name: 'Syncs',
      figure: `${withThousands(well)} of ${withThousands(syncs.length)}`,
      note: 'ended well or are running',
    },
    ...(growth ? [rowsFact(growth, days)] : []),
    {
      name: 'Lower bounds',
      figure: withThousands(bounds),
      note: bounds === 1 ? 'slice may be incomplete' : 'slices may be incomplete',
    },
    { name: 'In quarantine', figure: withThousands(open), note: open === 1 ? 'entry is open' : 'entries are open' },
  ];
}

function rowsFact(growth: Report['growth'], days: readonly string[]): Fact {
  const rows = growth.reduce((sum, { byDay }) => sum + (byDay.at(-1) ?? 0), 0);
  const added = growth.reduce((sum, { byDay }) => sum + (byDay.at(-1) ?? 0) - (byDay[0] ?? 0), 0);
  const note = html`${withThousands(added)} first seen after ${dayTime(days[0] ?? '')}`;
  return { name: 'Rows', figure: withThousands(rows), note };
}

const endOf = ({ runsOutOn }: BalanceHistory): Content =>
  runsOutOn === null ? 'do not run out' : html`run out on ${dayTime(runsOutOn)}`;

/** The items that need attention, each with a link to its section, whose address `addressOf` returns. */
export function attention(report: SummarizedReport, addressOf = (section: string): string => `#${section}`): Markup {
  const items = attentionOf(report);
  return html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
${
  items.length === 0
    ? html`<p class="fine">${report.syncs.length === 0 ? html`Nothing has run yet. Run <code>sluice sync</code>.` : 'Nothing needs attention.'}</p>`
    : html`<ul>${items.map(({ text, section }) => html`<li>${text} <a href="${addressOf(section)}">${MORE[section] ?? 'More'}</a></li>`)}</ul>`
}</section>`;
}

const MORE: Readonly<Record<string, string>> = {
  syncs: 'See syncs',
  balance: 'See balance',
  coverage: 'See coverage',
  quality: 'See quality',
  spend: 'See spend',
};

interface Item {
  readonly text: Content;
  readonly section: string;
}

function attentionOf(report: SummarizedReport): Item[] {
  return [...syncItems(report), ...checkItems(report), ...moneyItems(report), ...dataItems(report)];
}

const syncItems = ({ syncs, madeAt }: SummarizedReport): Item[] =>
  worstFirst(syncs).flatMap((it) => {
    const backlog = [
      ...(it.inDoubt > 0 ? [`${withNoun(it.inDoubt, 'request')} in doubt`] : []),
      ...(it.waiting > 0 ? [`${withNoun(it.waiting, 'answer')} not loaded`] : []),
    ];
    const ago = durationText(Math.max(0, madeAt.getTime() - (it.endedAt ?? it.startedAt).getTime()));
    return [
      ...(needsCare(it.state)
        ? [{ text: html`${named(it.sync)}: ${stateMark(it.state)} ${ago} ago.`, section: 'syncs' }]
        : []),
      ...(backlog.length > 0
        ? [{ text: html`${named(it.sync)} has ${backlog.join(' and ')}: its next run handles them.`, section: 'syncs' }]
        : []),
    ];
  });

const checkItems = ({ failingChecks }: SummarizedReport): Item[] =>
  failingChecks.map(({ sync, name, severity, message, allowed }) => ({
    text: html`${named(sync)}: check ${named(name)}${severity === 'error' ? '' : ' (a warning)'} failed: ${named(message)}; allowed: ${named(allowed)}.`,
    section: 'syncs',
  }));

const worstFirst = (syncs: readonly SyncState[]): SyncState[] => [
  ...syncs.filter(({ state }) => toneOf(state) === 'bad'),
  ...syncs.filter(({ state }) => toneOf(state) !== 'bad'),
];

function moneyItems({ money, madeAt }: SummarizedReport): Item[] {
  if (money === undefined) return [];
  const { balances, chargedFailures } = money;
  const today = dayNumber(dayOf(madeAt));
  const soon = balances.filter(({ runsOutOn }) => runsOutOn !== null && dayNumber(runsOutOn) - today <= SOON_DAYS);
  return [
    ...soon.map((balance) => ({ text: forecast(balance), section: 'balance' })),
    ...(chargedFailures.points > 0
      ? [
          {
            text: `${withNoun(chargedFailures.points, 'point')} went to ${withNoun(chargedFailures.requests, 'request')} that failed or whose answer was lost.`,
            section: 'spend',
          },
        ]
      : []),
  ];
}

function dataItems({ coverage, quality }: SummarizedReport): Item[] {
  const truncated = coverage.filter(({ lowerBound }) => lowerBound > 0);
  const quarantined = quality.filter(({ openQuarantine }) => openQuarantine > 0);
  return [
    ...truncated.map((it) => ({
      text: html`${withNoun(it.lowerBound, 'slice')} of ${named(it.sync)} may be incomplete.`,
      section: 'coverage',
    })),
    ...quarantined.map((it) => ({
      text: html`${named(it.sync)} has ${withNoun(it.openQuarantine, 'entry', 'entries')} in quarantine.`,
      section: 'quality',
    })),
  ];
}
