/** The pages that people write are in plain English, as far as a program can judge that. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../architecture/imports.ts';
import { offencesIn, offencesInComments, sentencesOf } from './prose.ts';

const inFolder = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);

/** Pages that programs write. They join the list when the texts that they are made from are in plain English. */
const GENERATED = ['reliability'];
const NOT_YET = GENERATED.map((name) => `docs/${name}.md`);

const pages = [
  ...(await inFolder('.')),
  ...(await inFolder('.github')),
  ...(await inFolder('docs')).filter((path) => !NOT_YET.includes(path)),
  ...(await inFolder('docs/decisions')),
];

describe('a page that people write', () => {
  it.each(pages)('%s has plain openings and words, and sentences of limited length', async (path) => {
    expect(offencesIn(await readFile(path, 'utf8'))).toEqual([]);
  });
});

describe('the comments of the source', () => {
  it('have plain openings and words, and sentences of limited length', async () => {
    const files = await sourceFiles();
    const found = await Promise.all(
      files.map(async ({ path }) =>
        offencesInComments(await readFile(`src/${path}`, 'utf8')).map((offence) => `src/${path}, ${offence}`),
      ),
    );
    expect(files.length).toBeGreaterThan(400);
    expect(found.flat()).toEqual([]);
  });
});

describe('the rules for prose', () => {
  it('apply to comments that begin a line, and to nothing else of a source file', () => {
    const source = [
      "const told = 'nobody';",
      '/**',
      ' * It is plain.',
      ' * Nor is this.',
      ' */',
      '  // A run is',
      '  // in hand.',
      '/** Short, told. */',
    ].join('\n');
    expect(offencesInComments(source)).toEqual([
      expect.stringMatching(/^line 3: the opening of "Nor is this\."/),
      expect.stringMatching(/^line 6: "in hand"/),
      expect.stringMatching(/^line 8: "told"/),
    ]);
  });

  it.each([
    ['a banned opening', 'Of a run that ended, the end is kept.', /opening/],
    ['a banned opening in a list', '- First.\n- Nor is it lost.', /^line 2: the opening/],
    ['a banned opening in the middle of a paragraph', 'It ends. That is known.', /opening/],
    ['What ... is', 'What was read is kept.', /opening/],
    ['So ... that', 'So large a page that it fails.', /opening/],
    ['a banned word', 'It shows what the log told us.', /"told" \(write: .*reported/],
    ['a banned phrase that goes over two lines', 'The page exists by\nthen.', /"by then"/],
    ['a banned word in a table', '| a | b |\n|---|---|\n| c | the whole page |', /^line 3: "whole"/],
    ['a banned word in a heading', '# Pages for nobody', /"nobody"/],
    ['a heading or cell of more than 40 words', `# It ${'very '.repeat(40)}long`, /42 words/],
    ['an average above 20 words', `It is ${'very '.repeat(20)}long.`, /23\.0 words a sentence on average/],
  ])('refuse %s', (_, markdown, offence) => {
    expect(offencesIn(markdown)).toEqual([expect.stringMatching(offence)]);
  });

  it('refuse a sentence of more than 40 words', () => {
    const short = 'Short words keep the average low. '.repeat(3);
    expect(offencesIn(`It ${'very '.repeat(40)}long. ${short}`)).toEqual([expect.stringMatching(/^line 1: 42 words/)]);
  });

  it.each([
    ['code', 'Read `told` and `by then`.\n\n```sh\necho whoever\n```'],
    ['a question', 'What is a slice?'],
    ['an address of a link', 'Read [this](whoever.md).'],
    ['long cells of a list', `| ${'some words here; '.repeat(30)} |`],
    ['short pieces of a table in the average', `| a |\n| b |\n\n${'Every word is short here. '.repeat(3)}`],
    ['a comment', '<!-- whoever\ntold -->\n\nText.'],
    ['So at the start without that', 'So no call is lost.'],
  ])('allow %s', (_, markdown) => {
    expect(offencesIn(markdown)).toEqual([]);
  });

  it('count a link and code as words, and end a sentence at its stop', () => {
    expect(sentencesOf('See [the docs](a.md) for `x y`. It is 3.5 s.').map(({ words }) => words)).toEqual([5, 4]);
  });
});
