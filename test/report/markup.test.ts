/** Nothing that a template takes in becomes markup. */
import { load } from 'cheerio';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls } from '../../src/text/terminal-safe.ts';
import { escaped, html, named, trusted } from '../../src/report/markup.ts';
import { HOSTILE } from './hostile.ts';

/** What a parser makes of the text in an element and in attributes of both quotes. */
function parsed(text: string) {
  const $ = load(html`<p title="${text}" lang='${text}'>${text}</p>`.markup, null, false);
  const paragraph = $('p');
  return {
    elements: $('*').length,
    attributes: Object.keys(paragraph.attr() ?? {}),
    text: paragraph.text(),
    title: paragraph.attr('title'),
    lang: paragraph.attr('lang'),
  };
}
const harmless = (text: string) => ({
  elements: 1,
  attributes: ['title', 'lang'],
  text: escapeControls(text),
  title: escapeControls(text),
  lang: escapeControls(text),
});

describe('text in markup', () => {
  it.each(HOSTILE.map((it) => [it.slice(0, 60), it]))('stays text: %j', (_name, text) => {
    expect(parsed(text)).toEqual(harmless(text));
  });

  it('stays text, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parsed(text)).toEqual(harmless(text));
      }),
      { numRuns: 500 },
    );
  });

  it('is escaped by one rule for elements and attributes', () => {
    expect(escaped(`&<>"'\``)).toBe('&amp;&lt;&gt;&quot;&#39;&#96;');
    expect(escaped('a\u202eb\nc')).toBe('a\\u202eb\u240ac');
  });
});

describe('a template', () => {
  it('takes in markup as it is, lists in order, and nothing for what is absent', () => {
    expect(html`<p>${[html`<b>${'<'}</b>`, 1, '>']}${undefined}${null}${false}${trusted('<i>')}</p>`.markup).toBe(
      '<p><b>&lt;</b>1&gt;<i></p>',
    );
  });

  it('isolates a text from outside from the text beside it', () => {
    expect(named('<').markup).toBe('<bdi>&lt;</bdi>');
    expect(named('a.b_c/').markup).toBe('<bdi>a.<wbr>b_<wbr>c/</bdi>');
  });
});
