/** Log lines for machines and for people. */
import { describe, expect, it } from 'vitest';
import { createLog, type LogLevel } from '../../src/telemetry/log.ts';
import { createRedactor } from '../../src/telemetry/redact-secrets.ts';

const SECRET = 'canary"token';

function logged(style: 'json' | 'plain', level: LogLevel = 'info') {
  const lines: string[] = [];
  const log = createLog({
    style,
    level,
    write: (line) => lines.push(line),
    redact: createRedactor([SECRET]).redact,
    now: () => new Date('2026-01-02T03:04:05.678Z'),
  });
  return { log, lines };
}

describe('json', () => {
  it('is one object a line, with level, time and message', () => {
    const { log, lines } = logged('json');
    log.warn('slow\nanswer', { sync: 'pages', tookMs: 12 });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('}\n')).toBe(true);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'warn',
      time: '2026-01-02T03:04:05.678Z',
      message: 'slow\nanswer',
      sync: 'pages',
      tookMs: 12,
    });
  });

  it('holds no secret, however deep, and stays JSON', () => {
    const { log, lines } = logged('json');
    log.error(`refused ${SECRET}`, { [SECRET]: [{ deep: `x${SECRET}x` }], error: new Error(SECRET).message });
    expect(lines.join('')).not.toContain('canary');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      message: 'refused [redacted]',
      '[redacted]': [{ deep: 'x[redacted]x' }],
    });
  });

  it('holds nothing that a terminal obeys, and says the same', () => {
    const { log, lines } = logged('json');
    const text = '\u001b[2J\u009b31m\u202egpj.exe\u2028\u007f\ufeff';
    log.warn(text, { [text]: text });
    expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: text, [text]: text });
  });
});

describe('plain', () => {
  it('names every level except information, and writes the facts', () => {
    const { log, lines } = logged('plain', 'debug');
    log.info('begun', { sync: 'pages', tookMs: 12, left: undefined });
    log.warn('slow');
    expect(lines).toEqual(['begun (sync=pages, tookMs=12)\n', 'warn: slow\n']);
  });

  it('holds no secret and nothing that a terminal obeys', () => {
    const { log, lines } = logged('plain');
    log.warn(`\u001b[2J${SECRET}`, { text: `${SECRET}\n` });
    expect(lines).toEqual(['warn: ␛[2J[redacted] (text=[redacted]␊)\n']);
  });
});

it.each(['json', 'plain'] as const)('the log writes nothing below its level (%s)', (style) => {
  const { log, lines } = logged(style, 'warn');
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(lines).toHaveLength(2);
});
