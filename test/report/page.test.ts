/** The page of a report: complete, harmless, and with the figures behind each chart. */
import { createHash } from 'node:crypto';
import { type CheerioAPI, load } from 'cheerio';
import { describe, expect, it } from 'vitest';
import { reportPage } from '../../src/report/page.ts';
import { emptyReport } from '../../src/report/read-report.ts';
import type { Report } from '../../src/report/report.ts';
import { HOSTILE, made } from './hostile.ts';
import { NOW, SAMPLE } from './sample.ts';

const EMPTY = emptyReport('sluice', NOW);
/** A report with one of each, all noughts. */
const NOUGHT: Report = {
  ...EMPTY,
  days: SAMPLE.days,
  money: {
    readUpTo: NOW,
    endpoints: [{ endpoint: 'token.requests', requests: 1, points: 0, byDay: SAMPLE.days.map(() => 0) }],
    chargedFailures: { requests: 0, points: 0 },
    balances: [],
  },
  syncs: SAMPLE.syncs.slice(0, 1),
  coverage: SAMPLE.coverage.slice(0, 1),
  quality: SAMPLE.quality.slice(0, 1),
  quarantine: { byDay: SAMPLE.days.map(() => 0), reasons: [] },
};
const PAGES: readonly (readonly [string, Report])[] = [
  ['with something in every section', SAMPLE],
  ['of an empty warehouse', EMPTY],
  ['of noughts', NOUGHT],
];

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
const textOf = ($: CheerioAPI, selector: string): string => plain($(selector).text());

describe.each(PAGES)('the page %s', (_name, report) => {
  const page = reportPage(report);
  const $ = load(page);

  it('is HTML without a mistake', () => {
    const mistakes: unknown[] = [];
    load(page, { onParseError: (error) => mistakes.push(error) });
    expect(mistakes).toEqual([]);
  });

  it('fetches nothing, runs nothing, and its policy allows only its own style', () => {
    const digest = createHash('sha256').update($('style').text()).digest('base64');
    expect($('meta[http-equiv="Content-Security-Policy"]').attr('content')).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
    );
    expect($('style')).toHaveLength(1);
    expect(
      $('script, link, img, iframe, object, embed, form, base, image, use, foreignObject, animate, set'),
    ).toHaveLength(0);
    const attributes = $('*')
      .toArray()
      .flatMap((it) => Object.keys('attribs' in it ? it.attribs : {}));
    expect(
      attributes.filter((it) => /^on|^style$|^src|^srcset$|^xlink|^ping$|^action$|^background$/i.test(it)),
    ).toEqual([]);
    expect($('style').text()).not.toMatch(/url\(|@import|expression/i);
  });

  it('has ids once each, and every reference has its end', () => {
    const ids = $('[id]')
      .toArray()
      .map((it) => $(it).attr('id'));
    expect(new Set(ids).size).toBe(ids.length);
    const references = [
      ...$('a[href]')
        .toArray()
        .map((it) => ($(it).attr('href') ?? '').replace('#', '')),
      ...$('[aria-labelledby]')
        .toArray()
        .map((it) => $(it).attr('aria-labelledby')),
      ...$('[aria-details]')
        .toArray()
        .map((it) => $(it).attr('aria-details')),
    ];
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((it) => !ids.includes(it))).toEqual([]);
  });

  it('can be found one’s way in without seeing it', () => {
    expect($('html').attr('lang')).toBe('en');
    expect(['header', 'nav', 'main', 'footer', 'h1'].map((it) => $(it).length)).toEqual([1, 1, 1, 1, 1]);
    expect($('body > a').first().attr('href')).toBe('#main');
    expect(
      $('svg:not([aria-hidden="true"])')
        .toArray()
        .filter(
          (it) =>
            $(it).parents('svg').length === 0 &&
            !($(it).attr('role') === 'img' && ($(it).attr('aria-label') ?? '') !== ''),
        ),
    ).toEqual([]);
    expect(
      $('table')
        .toArray()
        .filter((it) => $(it).children('caption').text() === '' || $(it).find('thead th[scope="col"]').length === 0),
    ).toEqual([]);
    expect(
      $('main tbody tr')
        .toArray()
        .filter((it) => $(it).children('th[scope="row"]').length !== 1),
    ).toEqual([]);
    const levels = $('h1, h2, h3')
      .toArray()
      .map((it) => Number(it.tagName.slice(1)));
    expect(levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1)).toEqual([]);
  });

  it('has rows as wide as their heads', () => {
    for (const table of $('table').toArray()) {
      const wide = $(table).find('thead th').length;
      const odd = $(table)
        .find('tbody tr, tfoot tr')
        .toArray()
        .filter((it) => $(it).children().length !== wide);
      expect({ table: $(table).attr('id'), odd: odd.length }).toEqual({ table: $(table).attr('id'), odd: 0 });
    }
  });

  it('writes no figure that is none', () => {
    expect($('body').text()).not.toMatch(/NaN|Infinity|undefined|null|\[object/);
    const marks = $('svg *')
      .toArray()
      .flatMap((it) => Object.values('attribs' in it ? it.attribs : {}));
    expect(marks.filter((it) => /NaN|Infinity|undefined|null/.test(it))).toEqual([]);
  });
});

describe('the page', () => {
  it('shows first what needs attention', () => {
    const $ = load(reportPage(SAMPLE));
    const items = $('#attention ~ ul li')
      .toArray()
      .map((it) => plain($(it).text()));
    expect(items[0]).toMatch(/^pages: failed 8 h 10 min ago/);
    expect(items.join('\n')).toMatch(
      /2026-12-18[\s\S]*23 points went to 14 requests[\s\S]*9 slices of data_engineers[\s\S]*pages has 7 entries/,
    );
  });

  it('says after which day rows are new, and over how many days at the most a pace is', () => {
    const $ = load(reportPage(SAMPLE));
    expect(textOf($, '.facts')).toContain(`first seen after ${SAMPLE.days[0] ?? ''}`);
    expect(textOf($, '#growth figure:first-of-type .note')).toMatch(/of them first seen after 2026-08-24$/);
    expect(textOf($, '#balance .lead')).toMatch(
      /^At the recent mean rate of 151\.4 points a day \(over at most 7 days\), /,
    );
  });

  it('does not say that an unreadable answer was full', () => {
    const truncated = SAMPLE.truncated.map((it) => ({ ...it, returned: 0, reason: 'the body is HTML' }));
    const shown = load(reportPage({ ...SAMPLE, truncated })).text();
    expect(shown).toMatch(/slices? may be incomplete: the answer was full and could not be split further, or could/);
    expect(shown).toMatch(/of data_engineers may be incomplete/);
    expect(shown).not.toMatch(/came back full/);
  });

  it('explains open slices, and shows the filters of truncated slices', () => {
    const [slice] = SAMPLE.truncated;
    if (!slice) throw new Error('the sample has a truncated slice');
    const filters = '{"title": "x", "keywords": "", "last_name": null, "location": [], "exact": false}';
    const others = ['{"title": <secret>}'].map((it) => ({ ...slice, filters: it }));
    const $ = load(reportPage({ ...SAMPLE, truncated: [{ ...slice, filters }, ...others] }));
    expect(textOf($, '#coverage .lead')).toContain(
      'Open slices were split and requested in parts, or their last day had not ended. An item can be in several slices.',
    );
    const shown = $('#truncated-table tbody code').toArray();
    expect(shown.map((it) => $(it).text())).toEqual(['{"title":"x","exact":false}', '{"title": <secret>}']);
  });

  it('says what to do where there is nothing', () => {
    const $ = load(reportPage(EMPTY));
    expect(textOf($, '#attention ~ p')).toBe('Nothing has run yet. Run sluice sync.');
    const states = $('main section[id]')
      .toArray()
      .map((it) => [$(it).attr('id'), $(it).find('p.empty').length, $(it).find('svg').length]);
    expect(states).toEqual(
      ['spend', 'balance', 'syncs', 'coverage', 'growth', 'quality', 'calls'].map((id) => [id, 1, 0]),
    );
    expect(textOf($, '#spend p.empty')).toContain('Add a sync of token.requests');
  });

  it('names each token when there are several', () => {
    const [balance] = SAMPLE.money?.balances ?? [];
    if (!SAMPLE.money || !balance) throw new Error('the sample has a balance');
    const other = { ...balance, token: 'other', byDay: balance.byDay.map((it, place) => (place < 9 ? null : it)) };
    const $ = load(reportPage({ ...SAMPLE, money: { ...SAMPLE.money, balances: [balance, other] } }));
    expect(
      $('#balance figure h3')
        .toArray()
        .map((it) => plain($(it).text())),
    ).toEqual([`Points left on token ${balance.token}`, 'Points left on token other']);
    expect($('#balance-figures tbody tr').first().children().last().text()).toBe('');
  });

  it('draws no balance that was reported before its days', () => {
    const [balance] = SAMPLE.money?.balances ?? [];
    if (!SAMPLE.money || !balance) throw new Error('the sample has a balance');
    const old = { ...balance, at: new Date('2026-01-02T03:04:05Z'), byDay: balance.byDay.map(() => null) };
    const $ = load(reportPage({ ...SAMPLE, money: { ...SAMPLE.money, balances: [old] } }));
    expect($('#balance svg, #balance details')).toHaveLength(0);
    expect(textOf($, '#balance .note')).toContain('As of 2026-01-02 03:04 UTC');
  });
});

describe('a report full of strangers’ names', () => {
  const shapeOf = (page: string): string[] =>
    load(page)('*:not(wbr)')
      .toArray()
      .map((it) => ('attribs' in it ? `${it.name} ${Object.keys(it.attribs).join(' ')}` : ''));
  const shape = shapeOf(reportPage(SAMPLE));
  const harm = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\p{Cs}]/u;

  it.each(HOSTILE.map((it) => [it.slice(0, 60), it]))('keeps its shape with %j in each', (_name, hostile) => {
    const page = reportPage(made(hostile, SAMPLE));
    expect(shapeOf(page)).toEqual(shape);
    expect(page.split('\n').filter((line) => harm.test(line))).toEqual([]);
  });
});
