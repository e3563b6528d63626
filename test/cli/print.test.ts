/** Tables and words: harmless, aligned, cut on a terminal only. */
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { asJson, jsonElements } from '../../src/cli/terminal/json.ts';
import { withNoun, duration, withThousands, paint, table } from '../../src/cli/terminal/print.ts';
import { cutTo } from '../../src/cli/terminal/width.ts';
import { csv } from '../../src/text/csv.ts';
import { displayText } from '../../src/text/display-text.ts';
import { keptChannel } from './channels.ts';

const pipe = keptChannel();

describe('table', () => {
  it('sets numbers right and texts left, with nothing after the last cell', () => {
    const printed = table(
      [{ name: 'name' }, { name: 'rows' }],
      [
        ['one', 1],
        ['eleven', '1234'],
      ],
      pipe,
    );
    expect(printed).toBe('name    rows\n------  ----\none        1\neleven  1234\n');
  });

  it('keeps null apart from empty text', () => {
    expect(
      table(
        [{ name: 'a' }, { name: 'b' }],
        [
          [null, 'x'],
          ['', 'y'],
        ],
        pipe,
      ),
    ).toBe('a     b\n----  -\nnull  x\n      y\n');
  });

  it('prints more rows than a call can take arguments', () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [index]);
    expect(table([{ name: 'n' }], rows, pipe).split('\n')).toHaveLength(200_003);
  });

  it('gives wide characters two columns, half-width ones one and marks none', () => {
    const printed = table(
      [{ name: 'word' }, { name: 'next' }],
      [
        ['日本', 'a'],
        ['e\u0301', 'b'],
        ['👩‍👩‍👧', 'c'],
        ['ｶﾅ', 'd'],
      ],
      pipe,
    );
    expect(printed.split('\n').slice(2, 6)).toEqual(['日本  a', 'e\u0301     b', '👩‍👩‍👧    c', 'ｶﾅ    d']);
  });

  it('cuts the widest column to the terminal, and nothing without one', () => {
    const rows = [['x'.repeat(60), 'short']];
    const columns = [{ name: 'long' }, { name: 'small' }];
    const lines = table(columns, rows, keptChannel(30)).trimEnd().split('\n');
    expect(lines.map((line) => stringWidth(line))).toEqual([30, 30, 30]);
    expect(lines[2]).toContain('…');
    expect(table(columns, rows, pipe)).toContain('x'.repeat(60));
  });

  it('lists fields one below the other when the columns do not fit the terminal at all', () => {
    const columns = Array.from({ length: 12 }, (_, at) => ({ name: `column_${at}` }));
    const printed = table(columns, [columns.map(({ name }) => `value of ${name}`)], keptChannel(60));
    expect(printed).toContain('column_11  value of column_11\n');
    expect(Math.max(...printed.split('\n').map((line) => stringWidth(line)))).toBeLessThanOrEqual(60);
  });

  it('shows what a terminal would obey', () => {
    const printed = table([{ name: 'a\u001b[31m' }], [['\u001b]0;title\u0007\r\n\u009b2J\u202eabc']], pipe);
    expect(printed.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\u202e/u);
    expect(printed).toContain('␛]0;title␇␍␊\\u009b2J\\u202eabc');
  });

  it('has colour only where the channel shows it', () => {
    expect(paint(keptChannel(80, true), 'bold', 'x')).toBe('\u001b[1mx\u001b[22m');
    expect(paint(keptChannel(80, false), 'bold', 'x')).toBe('x');
  });
});

describe('words', () => {
  it('has the digits of numbers in groups', () => {
    const numbers = [0, 999, 1000, -1000, 1_234_567, 12_345_678.9, 0.5, 2.0004, 1e15, -0.0001];
    expect(numbers.map(withThousands)).toEqual(numbers.map((it) => it.toLocaleString('en-US').replace(/^-0$/, '0')));
  });

  it('says lengths of time in the units that fit', () => {
    expect([0, 850, 4_230, 59_990, 200_000, 7_500_000, 93_600_000].map(duration)).toEqual([
      '0 ms',
      '850 ms',
      '4.2 s',
      '59.9 s',
      '3 min 20 s',
      '2 h 5 min',
      '1 d 2 h',
    ]);
  });

  it('says numbers with their word', () => {
    expect([withNoun(1, 'query', 'queries'), withNoun(0, 'row'), withNoun(12_345, 'row')]).toEqual([
      '1 query',
      '0 rows',
      '12,345 rows',
    ]);
  });

  it('says any value on one line', () => {
    expect([new Date(0), 12n, { a: '\n' }, undefined, true].map(displayText)).toEqual([
      '1970-01-01T00:00:00.000Z',
      '12',
      '{"a":"\\n"}',
      'null',
      'true',
    ]);
  });

  it('cuts a text before a character that does not fit completely', () => {
    expect([cutTo('日本語', 4), cutTo('日本語', 6), cutTo('abc', 0), cutTo('abcdef', 3)]).toEqual([
      '日…',
      '日本語',
      '',
      'ab…',
    ]);
  });
});

describe('csv', () => {
  it('ends lines with a line feed, quotes as RFC 4180 says, and keeps null apart from empty text', () => {
    expect(
      csv(
        ['a', 'b,c'],
        [
          ['x"y', null],
          ['', 'line\r\nbreak'],
          [{ k: 1 }, 7],
        ],
      ),
    ).toBe('a,"b,c"\n"x""y",\n"","line\r\nbreak"\n"{""k"":1}",7\n');
  });
});

describe('jsonElements', () => {
  it.each([
    ['no row', []],
    ['one row', [{ a: 1 }]],
    ['rows with lists, empty objects and control characters', [{ a: [1, { b: '\u009b' }] }, {}, { c: 7n }]],
  ])('print the same as the array: %s', (_, rows) => {
    expect([...jsonElements(rows)].join('')).toBe(asJson(rows));
  });
});

describe('asJson', () => {
  it('escapes what a terminal would obey and keeps its meaning', () => {
    const value = { text: '\u009b2J\u202e\u007f\ud800', big: 12345678901234567890n };
    const printed = asJson(value);
    expect(printed).toMatch(/^[\x20-\x7e\n]+$/);
    expect(JSON.parse(printed)).toEqual({ text: value.text, big: '12345678901234567890' });
  });
});
