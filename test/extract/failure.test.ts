/** What the service says of a failure reaches people as one short harmless line. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, serviceText, statedCause } from '../../src/extract/failure.ts';

const text = (body: string, headers: Record<string, string> = {}): string => serviceText(Buffer.from(body), headers);

describe('the text of a failure', () => {
  it.each([
    ['{"detail":"no such user"}', 'no such user'],
    [
      '{"detail":[{"loc":["body","count"],"msg":"too large"},{"loc":["body","urn","type"],"msg":"wrong"}]}',
      'body.count: too large; body.urn.type: wrong',
    ],
    ['{"detail":["a","b"]}', 'a; b'],
    ['{"detail":{"message":"nested"}}', 'nested'],
    ['{"message":"as elsewhere"}', 'as elsewhere'],
    ['{"error":{"code":7,"message":"inside"}}', 'inside'],
    ['"a bare string"', 'a bare string'],
    ['plain words', 'plain words'],
    ['{"code":17}', '{"code":17}'],
    ['{"detail":"first","message":"second"}', 'first'],
    ['{"detail":"","message":"second"}', 'second'],
    ['[', '['],
  ])('%s is %j', (body, expected) => {
    expect(text(body)).toBe(expected);
  });

  it.each(['', '  ', '[]', '{}', 'null', '""', '<html><body>Bad gateway</body></html>', '\n<!doctype html>'])(
    'is empty for %j',
    (body) => {
      expect(text(body)).toBe('');
    },
  );

  it('is the x-error header when the body says nothing, but not in place of its detail', () => {
    expect(text('<html>', { 'x-error': 'PLAN' })).toBe('PLAN');
    expect(text('{"code":17}', { 'x-error': 'PLAN' })).toBe('PLAN');
    expect(text('{"detail":"x"}', { 'x-error': 'PLAN' })).toBe('x');
    expect(statedCause(Buffer.from('{"detail":"x"}'), { 'x-error': 'PLAN' })).toBe('PLAN x');
  });

  it('is not taken from the names of fields that say nothing', () => {
    expect(statedCause(Buffer.from('{"is_points_run_out":false}'), {})).toBe('');
  });

  it('survives deep nesting, huge bodies and bytes that are no text', () => {
    expect(text(`${'['.repeat(20_000)}"x"${']'.repeat(20_000)}`)).toMatch(/^\[{299}…$/);
    expect(text('x'.repeat(5_000_000))).toHaveLength(300);
    expect(serviceText(Buffer.from([0xff, 0x41]), {})).toBe('\ufffdA');
  });
});

describe('a printable line', () => {
  it.each([
    ['a\r\n\tb', 'a b'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007x', 'x'],
    ['a\u0000b\u0007c', 'a b c'],
    ['pay\u202egnp.exe', 'paygnp.exe'],
    ['zero\u200bwidth\ufeff', 'zerowidth'],
    ['line\u2028break\u00a0', 'line break'],
    ['\u009b31mx', 'x'],
    ['Zoë 漢字 🙂', 'Zoë 漢字 🙂'],
    ['lone \ud800 surrogate', 'lone  surrogate'],
  ])('of %j is %j', (given, expected) => {
    expect(printable(given)).toBe(expected);
  });

  it('is cut between characters at 300', () => {
    expect(printable('🙂'.repeat(300))).toBe('🙂'.repeat(300));
    expect(printable('🙂'.repeat(301))).toBe(`${'🙂'.repeat(299)}…`);
  });

  it('holds no control or format character, and is well formed, whatever it is made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
        const line = printable(given);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(line.isWellFormed()).toBe(true);
        expect(Array.from(line).length).toBeLessThanOrEqual(300);
      }),
    );
  });
});
