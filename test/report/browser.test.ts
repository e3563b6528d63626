/**
 * The page in a real browser, from disk: it logs nothing, requests nothing, fits, and works with a keyboard and a screen reader.
 * Without a Chromium on the PATH or in SLUICE_TEST_CHROMIUM these tests are not there; SLUICE_TEST_SCREENSHOTS names a
 * folder to keep pictures in.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportPage } from '../../src/report/page.ts';
import { emptyReport } from '../../src/report/read-report.ts';
import type { Report } from '../../src/report/report.ts';
import { temporaryFolder } from '../cli/program-run.ts';
import { findChromium, inChromium, type Tab } from './chromium.ts';
import { HOSTILE, made } from './hostile.ts';
import { NOW, SAMPLE } from './sample.ts';

const chromium = findChromium(process.env);
const pictures = process.env['SLUICE_TEST_SCREENSHOTS'];

it('a Chromium is looked for by name, then on the PATH', () => {
  expect(findChromium({ SLUICE_TEST_CHROMIUM: '/opt/chromium', PATH: '/usr/bin' })).toBe('/opt/chromium');
  expect(findChromium({ PATH: '/nowhere' })).toBeUndefined();
});

if (chromium !== undefined) {
  const hostile: Report = HOSTILE.reduce((report, text) => made(text, report), SAMPLE);
  const growth = SAMPLE.growth.flatMap((it) =>
    ['_recommendations', '_certifications', '_accomplishments'].map((end) => ({ ...it, table: it.table + end })),
  );
  const many: Report = { ...SAMPLE, growth };
  const reports = { sample: SAMPLE, empty: emptyReport('sluice', NOW), hostile, many };
  const looks = [
    { look: 'light', media: '', scheme: 'light', width: 1280 },
    { look: 'dark', media: '', scheme: 'dark', width: 1280 },
    { look: 'narrow', media: '', scheme: 'light', width: 360 },
    // The width of A4 between its margins.
    { look: 'print', media: 'print', scheme: 'dark', width: 688 },
  ] as const;

  describe('in Chromium', () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    beforeAll(async () => {
      folder = await temporaryFolder();
      for (const [name, report] of Object.entries(reports)) {
        await writeFile(join(folder.path, `${name}.html`), reportPage(report));
      }
    });
    afterAll(() => folder.remove());

    const addressOf = (name: string): string => pathToFileURL(join(folder.path, `${name}.html`)).href;
    const opened = <T>(name: string, work: (tab: Tab) => Promise<T>): Promise<T> =>
      inChromium(chromium, async (tab) => {
        await tab.open(addressOf(name));
        return work(tab);
      });

    it.each(Object.keys(reports))('%s says nothing, asks for nothing and fits, in every look', async (name) => {
      await opened(name, async (tab) => {
        for (const { look, media, scheme, width } of looks) {
          await tab.send('Emulation.setEmulatedMedia', {
            media,
            features: [{ name: 'prefers-color-scheme', value: scheme }],
          });
          await resized(tab, width);
          const page = await tab.evaluate('getComputedStyle(document.body).backgroundColor');
          expect({ look, page }).toEqual({
            look,
            page: {
              light: 'rgb(253, 253, 252)',
              dark: 'rgb(20, 23, 26)',
              narrow: 'rgb(253, 253, 252)',
              print: 'rgb(255, 255, 255)',
            }[look],
          });
          const wide = await tab.evaluate('document.documentElement.scrollWidth');
          expect({ look, fits: Number(wide) <= width }).toEqual({ look, fits: true });
          if (pictures !== undefined) await picture(tab, `${name}-${look}`);
        }
        expect(await tab.evaluate('document.title')).toMatch(/^Sluice report, /);
        expect(tab.said).toEqual([]);
        expect(tab.requested).toEqual([addressOf(name)]);
      });
    });

    it('wraps its links, which stay in sight where there is room', async () => {
      await opened('sample', async (tab) => {
        for (const [width, position] of [
          [400, 'static'],
          [700, 'sticky'],
          [1000, 'sticky'],
          [1280, 'sticky'],
        ] as const) {
          await resized(tab, width);
          const seen = await tab.evaluate(`(() => {
            const nav = document.querySelector('nav');
            const links = [...nav.querySelectorAll('a')].map((it) => it.getBoundingClientRect());
            return {
              position: getComputedStyle(nav).position,
              inSight: links.filter((it) => it.left >= 0 && it.right <= innerWidth).length,
            };
          })()`);
          expect({ width, seen }).toEqual({ width, seen: { position, inSight: 7 } });
          // What a link leads to is not behind the links.
          const below = await tab.evaluate(`(() => {
            location.hash = '';
            location.hash = '#coverage';
            const nav = document.querySelector('nav').getBoundingClientRect();
            return document.querySelector('#coverage-title').getBoundingClientRect().top - Math.max(0, nav.bottom);
          })()`);
          expect({ width, isBelow: Number(below) >= 0 }).toEqual({ width, isBelow: true });
        }
      });
    });

    it('breaks no name in the heads of figures within a word', async () => {
      await opened('many', async (tab) => {
        await resized(tab, 1280);
        // The texts of a name are its words: it may break between them.
        const broken = await tab.evaluate(`(() => {
          for (const it of document.querySelectorAll('details')) it.open = true;
          const texts = [...document.querySelectorAll('details thead bdi')].flatMap((it) => [...it.childNodes]);
          return texts.filter((it) => it.nodeType === 3).flatMap((it) => {
            const range = document.createRange();
            range.selectNodeContents(it);
            const lines = new Set([...range.getClientRects()].map(({ top }) => top));
            return lines.size > 1 ? [it.textContent] : [];
          });
        })()`);
        expect(broken).toEqual([]);
      });
    });

    it('keeps a heading and what it says with the table below on paper', async () => {
      await opened('sample', async (tab) => {
        await tab.send('Emulation.setEmulatedMedia', { media: 'print' });
        const breaks = await tab.evaluate(`[...document.querySelectorAll('h3.set, h3.set + .lead')]
          .map((it) => getComputedStyle(it).breakAfter)`);
        expect([...new Set(breaks as string[])]).toEqual(['avoid']);
      });
    });

    it('a hostile report makes no other elements than a friendly one', async () => {
      const count = (name: string) =>
        opened(name, ({ evaluate }) => evaluate('document.querySelectorAll("*:not(wbr)").length'));
      expect(await count('hostile')).toBe(await count('sample'));
    });

    it('would report and block it if something ran or sent a request', async () => {
      const harm =
        '<img src="https://evil.example/x.png"><script>document.title = "pwned"</script><p style="color: red">';
      await writeFile(join(folder.path, 'harmed.html'), reportPage(SAMPLE).replace('<footer>', `${harm}<footer>`));
      await opened('harmed', async (tab) => {
        expect(await tab.evaluate('document.title')).toMatch(/^Sluice report, /);
        expect(tab.said.length).toBeGreaterThanOrEqual(3);
      });
    });

    it('is walked through by keyboard, from the skip link on, and the figures open', async () => {
      await opened('sample', async (tab) => {
        const press = async (key: string, code: number): Promise<void> => {
          const what = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) };
          await tab.send('Input.dispatchKeyEvent', { type: 'keyDown', ...what });
          await tab.send('Input.dispatchKeyEvent', { type: 'keyUp', ...what });
        };
        const focused = (): Promise<unknown> =>
          tab.evaluate(
            `(() => { const it = document.activeElement; return [it.tagName, it.textContent.trim().slice(0, 20), getComputedStyle(it).outlineStyle].join(' '); })()`,
          );
        await press('Tab', 9);
        expect(await focused()).toBe('A Skip to the figures solid');
        await press('Tab', 9);
        expect(await focused()).toBe('A Spend by endpoint solid');
        const [stops, seen] = [
          Number(await tab.evaluate('document.querySelectorAll("a, summary, [tabindex=\'0\']").length')),
          new Set<unknown>(),
        ];
        for (let at = 0; at < stops; at++) {
          const now = String(await focused());
          seen.add(now);
          if (now.startsWith('SUMMARY Figures: points c')) break;
          await press('Tab', 9);
        }
        expect([...seen].filter((it) => !String(it).endsWith('solid'))).toEqual([]);
        await press('Enter', 13);
        expect(await tab.evaluate('document.querySelector("#spend details").open')).toBe(true);
      });
    });

    it('is readable by a screen reader: landmarks, headings, named pictures and tables', async () => {
      await opened('sample', async (tab) => {
        const { nodes } = await tab.send('Accessibility.getFullAXTree');
        const named = (
          nodes as readonly {
            readonly ignored: boolean;
            readonly role?: { readonly value: string };
            readonly name?: { readonly value: string };
          }[]
        ).filter(({ ignored }) => !ignored);
        const names = (role: string): string[] =>
          named.filter((it) => it.role?.value === role).map((it) => it.name?.value ?? '');
        expect(['banner', 'navigation', 'main', 'contentinfo'].map((role) => names(role).length)).toEqual([1, 1, 1, 1]);
        for (const role of ['image', 'img', 'table', 'region', 'link', 'heading']) {
          expect({ role, nameless: names(role).filter((it) => it === '').length }).toEqual({ role, nameless: 0 });
        }
        expect(names('image').length + names('img').length).toBeGreaterThan(20);
        expect(names('table')).toContain('Syncs with the outcome of their newest run, freshness and backlog');
      });
    });
  });
}

const resized = (tab: Tab, width: number) =>
  tab.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });

async function picture(tab: Tab, name: string): Promise<void> {
  const height = Number(await tab.evaluate('document.documentElement.scrollHeight'));
  const width = Number(await tab.evaluate('innerWidth'));
  const { data } = await tab.send('Page.captureScreenshot', {
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height: Math.min(height, 8000), scale: 1 },
  });
  await mkdir(pictures ?? '', { recursive: true });
  await writeFile(join(pictures ?? '', `${name}.png`), Buffer.from(data as string, 'base64'));
}
