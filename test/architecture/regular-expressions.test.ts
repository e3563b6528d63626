/** No regular expression of the sources takes more than linear time, whatever text a service, a database or a file brings. */
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { serviceText, statedCause } from '../../src/extract/failure.ts';
import { slowdown } from '../support/slowdown.ts';
import { sourceFiles } from './imports.ts';

/** What is not linear and never gets more than a few characters. */
const SHORT_INPUT: Readonly<Record<string, string>> = {
  '\\B(?=(?:\\d{3})+$)': 'the digits of a number',
};

/** At this length a quadratic expression takes some hundred milliseconds, and a linear one less than one. */
const LENGTH = 32_768;
const MOST_MS = 60;

const UNITS = [
  'a',
  'A',
  'x',
  'u',
  '0',
  '1',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\\',
  '\\\\u',
  '%',
  '%25',
  '"',
  "'",
  '`',
  '[',
  '(',
  '{',
  '<',
  '</',

  '=',
  '&',
  '&#',
  '-',
  '--',
  '.',
  ',',
  ';',
  ':',
  '/',
  '//',
  '_',
  '@',
  '$',
  '*',
  '/*',
  '+',
  '#',
  '\u001b[',
  '\u0000',

  'é',
  '\ud800',
  'e1',
  'a.',
  'a,',
  'a ',
  '0:',
  'a=',
  '"a',
  '\\"',
  '[{',
  '00',
  '(a',
  ' a=',
  '${',
  '}{',
];
const ENDS = ['', '\u0001', '\n!'];

interface Literal {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

function literalsOf(file: string, text: string): Literal[] {
  const found: Literal[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, regex } = node as { type?: unknown; regex?: { pattern: string; flags: string } };
    if (type === 'Literal' && regex) found.push({ file, source: regex.pattern, flags: regex.flags });
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(parseAst(text, { lang: 'ts' }, file));
  return found;
}

/** Texts that make the most of what the expression names itself. */
function textsFor(source: string, length: number): string[] {
  const own = [...new Set(source.match(/[^\\^$|?*+(){}[\]]/g) ?? [])].slice(0, 10);
  const pairs = own.flatMap((first) => own.slice(0, 5).map((second) => first + second));
  const beginnings = new Set(['', /^\^?((?:\w|[-"'<@ :/])+)/.exec(source)?.[1] ?? '']);
  return [...beginnings].flatMap((beginning) =>
    [...new Set([...UNITS, ...own, ...pairs])].flatMap((unit) =>
      ENDS.map((end) => beginning + unit.repeat(Math.ceil(length / unit.length)) + end),
    ),
  );
}

/** The texts on which the expression is too slow, the first alone. */
function slowOn({ file, source, flags }: Literal, length = LENGTH): string[] {
  const pattern = new RegExp(source, flags);
  for (const text of textsFor(source, length)) {
    // What a busy machine or the collector takes comes once.
    if (![1, 2, 3].every(() => milliseconds(pattern, text) > MOST_MS)) continue;
    return [`${file}: /${source}/${flags} on ${JSON.stringify(text.slice(0, 20))}`];
  }
  return [];
}

function milliseconds(pattern: RegExp, text: string): number {
  const before = process.threadCpuUsage();
  if (pattern.global) text.replaceAll(pattern, '');
  else pattern.test(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

it('every regular expression of the sources is linear on the worst texts', { timeout: 180_000 }, async () => {
  const files = await sourceFiles();
  const literals = files.flatMap(({ path, text }) => literalsOf(path, text));
  expect(literals.length).toBeGreaterThan(150);
  expect(literals.filter(({ source }) => SHORT_INPUT[source] === undefined).flatMap(slowOn)).toEqual([]);
});

it('a regular expression that is quadratic is found', () => {
  const file = 'a.ts';
  // At the full length, three tries at each of these take a minute.
  const length = LENGTH / 2;
  for (const source of ['\\/+$', '0+$', '\\\\+u00', '[\\w.]+@', '(?:a,?)+$', '\\s+$'])
    expect(slowOn({ file, source, flags: 'g' }, length)).toHaveLength(1);
});

it.each(['\\', '"', ' ', '%', 'a', '[', '{"detail":', '\u001b[', '\u001b]', '\u0000', '\u2028', '\ud800', '\t\n'])(
  'the text of an error of a service is read in a time that is linear: %j, repeated',
  (unit) => {
    const read = (text: string): void => {
      for (const body of [text, JSON.stringify({ detail: text })]) {
        serviceText(Buffer.from(body), { 'x-error': text });
        statedCause(Buffer.from(body), { 'x-error': text });
      }
    };
    expect(slowdown((length) => unit.repeat(length / unit.length), read)).toBeLessThan(9);
  },
);

it('the list of expressions that get short texts only is of expressions that exist', async () => {
  const all = new Set(
    (await sourceFiles()).flatMap(({ path, text }) => literalsOf(path, text)).map(({ source }) => source),
  );
  expect(Object.keys(SHORT_INPUT).filter((source) => !all.has(source))).toEqual([]);
});
