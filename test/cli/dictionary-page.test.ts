/** The data dictionary as a page, and the diagrams: complete, harmless, and without any network. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { entitiesPage, schemaDbml } from '../../src/cli/reference/diagram.ts';
import { dictionaryPage } from '../../src/cli/reference/dictionary-page.ts';
import { dictionary } from '../../src/warehouse/schema/dictionary.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';

const html = dictionaryPage();
const between = (start: string, end: string): string => html.split(start)[1]?.split(end)[0] ?? '';

describe('the page of the dictionary', () => {
  it('shows every table, view and column', () => {
    const sections = html.split('<section id="').slice(1);
    expect(sections.map((it) => it.slice(0, it.indexOf('"')))).toEqual(dictionary().map(({ table }) => table));
    for (const [place, { columns }] of dictionary().entries()) {
      const heads = [...(sections[place] ?? '').matchAll(/<th scope="row"><code>([^<]+)<\/code>/g)].map(
        ([, name]) => name,
      );
      expect(heads).toEqual(columns.map(({ name }) => name));
    }
  });

  it('uses no network and runs only its own script', () => {
    const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const policy = between('http-equiv="Content-Security-Policy" content="', '"');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src ${digest(between('<script>', '</script>'))}`);
    expect(policy).toContain(`style-src ${digest(between('<style>', '</style>'))}`);
    expect(html).not.toMatch(/\b(src|href)="(?!#)|url\(|@import|\son\w+=|\sstyle="/);
  });

  it('takes no text for a tag', () => {
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, tag]) => tag));
    const known =
      'a body code h1 h2 head header html input label main meta p script section style table tbody td th thead title tr doctype';
    expect([...tags].filter((tag) => !known.split(' ').includes(tag ?? ''))).toEqual([]);
  });
});

describe('the diagrams', () => {
  it('show every table once, and every reference', () => {
    const page = entitiesPage();
    const entities = [...page.matchAll(/^ {2}(\w+) \{$/gm)].map(([, name]) => name);
    expect(entities.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
    const references = [...page.matchAll(/^ {2}(\w+) (?:\|\||\|o)--o\{ (\w+) : /gm)].map(
      ([, to, from]) => `${from} ${to}`,
    );
    const declared = tables.flatMap(({ name, foreignKeys }) => foreignKeys.map(({ table }) => `${name} ${table}`));
    expect(references.toSorted()).toEqual(declared.toSorted());
  });

  it('in DBML have every column with its meaning', () => {
    const text = schemaDbml();
    expect([...text.matchAll(/^Table "(\w+)" \{$/gm)].map(([, name]) => name)).toEqual(tables.map(({ name }) => name));
    const columns = tables.flatMap((it) => it.columns);
    expect([...text.matchAll(/^ {2}"\w+" .*\[.*note: '(?:[^'\\]|\\.)+'\]$/gm)]).toHaveLength(columns.length);
    expect([...text.matchAll(/^Ref: /gm)]).toHaveLength(tables.flatMap((it) => it.foreignKeys).length);
  });
});
