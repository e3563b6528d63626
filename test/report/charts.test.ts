/** Charts of the page: each shows what its table says, and draws it. */
import { load } from 'cheerio';
import { describe, expect, it } from 'vitest';
import { frameOf } from '../../src/report/chart.ts';
import { reportPage } from '../../src/report/page.ts';
import { SAMPLE } from './sample.ts';

const plain = (text: string): string => text.replaceAll('\u00a0', ' ').trim();

describe('charts', () => {
  const $ = load(reportPage(SAMPLE));

  it('by day show what their table says, and draw it', () => {
    const charts = $('svg.chart').toArray();
    expect(charts).toHaveLength(1 + 7 + 1 + 6 + 1);
    for (const chart of charts) {
      const title = plain($(chart).closest('figure').find('h3').text());
      const table = $(`#${$(chart).attr('data-figures') ?? ''}`);
      const heads = table
        .find('thead th')
        .toArray()
        .map((it) => plain($(it).text()));
      const column =
        title === 'All endpoints' ? heads.indexOf('All') : Math.max(heads.indexOf(title), heads.length === 2 ? 1 : -1);
      const rows = table
        .find('tbody tr')
        .toArray()
        .map((it) => [plain($(it).children().first().text()), plain($(it).children().eq(column).text())]);
      const shown = $(chart)
        .find('title')
        .toArray()
        .map((it) => /^(\S+): (\S+)/.exec(plain($(it).text()))?.slice(1));
      expect({ title, shown }).toEqual({ title, shown: rows });
      const figures = rows.map(([, figure = '']) => Number(figure.replaceAll(',', '')));
      const heights = $(chart)
        .find('g')
        .toArray()
        .map((it) => Number($(it).children('rect.bar').attr('height') ?? 0));
      const most = figures.indexOf(Math.max(...figures));
      if (Math.max(...heights) > 0) {
        for (const [place, height] of heights.entries()) {
          const share = (figures[place] ?? 0) / (figures[most] ?? 1);
          expect(height).toBeCloseTo(figures[place] === 0 ? 0 : Math.max(1, (heights[most] ?? 0) * share), 1);
        }
      }
    }
  });

  it('have a line at or above the greatest value, and others below it', () => {
    for (let maxValue = 1; maxValue < 20_000; maxValue = Math.ceil(maxValue * 1.07)) {
      const { ticks, down } = frameOf({ days: SAMPLE.days, maxValue, plotHeight: 64 });
      const top = ticks.at(-1) ?? 0;
      const lines = ticks.length >= Math.min(maxValue, 2) && ticks.length <= 4 && ticks.every(Number.isInteger);
      expect({ most: maxValue, isCovered: top >= maxValue, lines, at: down(top) }).toEqual({
        most: maxValue,
        isCovered: true,
        lines: true,
        at: 8,
      });
    }
  });

  it('of growth and balance draw each day’s figure as a step', () => {
    const [chart] = $('#growth svg.chart').toArray();
    const path =
      $(chart ?? '')
        .find('path.edge')
        .attr('d') ?? '';
    const heights = [...path.matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)].map(([, , y]) => Number(y));
    const values = SAMPLE.growth[0]?.byDay ?? [];
    // Its scale ends at the next round value above 14,891 rows.
    const [floor, full, top] = [72, 8, 15_000];
    for (const place of [0, -1])
      expect(heights.at(place)).toBeCloseTo(floor - ((values.at(place) ?? 0) / top) * (floor - full), 1);
  });

  it('of outcomes show what their table says', () => {
    const table = $('#outcome-figures');
    const heads = table
      .find('thead th')
      .toArray()
      .map((it) => plain($(it).text()));
    for (const { sync, byDay } of SAMPLE.syncs) {
      const row = $('#syncs-table tbody tr')
        .toArray()
        .find((it) => $(it).find('th bdi').first().text() === sync);
      const shown = $(row ?? '')
        .find('svg.strip title')
        .toArray()
        .map((it) => $(it).text().split(': '));
      const rows = table
        .find('tbody tr')
        .toArray()
        .map((it) => [plain($(it).children().first().text()), plain($(it).children().eq(heads.indexOf(sync)).text())]);
      expect(shown).toEqual(rows.filter(([, outcome]) => outcome !== ''));
      expect(shown).toHaveLength(byDay.filter((it) => it !== null).length);
    }
  });

  it('within a row say what the row says', () => {
    for (const id of ['coverage-table', 'calls-table']) {
      for (const row of $(`#${id} tbody tr`).toArray()) {
        const label = plain($(row).find('svg').attr('aria-label') ?? '');
        const cells = $(row)
          .children()
          .toArray()
          .map((it) => plain($(it).text()));
        const figures =
          label
            .split(': ')[1]
            ?.replace('95th', '')
            .match(/\d[\d,.]*( m?s)?/g) ?? [];
        expect(figures).toHaveLength(3);
        expect(figures.map((it) => it.replace(/[.,]$/, '')).filter((it) => !cells.includes(it))).toEqual([]);
      }
    }
  });

  it('within a row draw what the row says', () => {
    const widths = $('#coverage-table tbody tr')
      .toArray()
      .map((row) =>
        $(row)
          .find('rect')
          .toArray()
          .map((it) => Number.parseFloat($(it).attr('width') ?? '')),
      );
    const slices = [
      [412, 96],
      [140, 9, 22],
    ];
    expect(widths).toEqual(slices.map((counts) => counts.map((it) => Math.round((it / 508) * 10_000) / 100)));
    const rings = $('#calls-table tbody circle')
      .toArray()
      .map((it) => Number.parseFloat($(it).attr('cx') ?? ''));
    // Ten times as long is as far to the right, wherever it is.
    const [slowest = 0, , , quickest = 0] = SAMPLE.calls.map(({ longestMs }) => Math.log10(longestMs));
    const decade = ((rings[0] ?? 0) - (rings[3] ?? 0)) / (slowest - quickest);
    expect(decade).toBeCloseTo(90 / 5, 1);
  });

  it('end the dashed line where the points run out', () => {
    const far = $('#balance path.expected').attr('d');
    expect(far).toMatch(/^M90,[\d.]+L1\d\d(\.\d+)?,[\d.]+$/);
    const [balance] = SAMPLE.money?.balances ?? [];
    if (!SAMPLE.money || !balance) throw new Error('the sample has a balance');
    const soon = { ...balance, points: 300, pace: 100, runsOutOn: '2026-11-24' };
    const near = load(reportPage({ ...SAMPLE, money: { ...SAMPLE.money, balances: [soon] } }));
    expect(near('#balance path.expected').attr('d')).toMatch(/^M90,[\d.]+L93,172$/);
    expect(plain(near('.facts').text())).toContain('run out on 2026-11-24');
  });
});
