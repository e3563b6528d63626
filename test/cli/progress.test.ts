/** The live line, and the output without a terminal. */
import { describe, expect, it } from 'vitest';
import { createProgress, type ProgressStyle, timeLeftMs } from '../../src/cli/terminal/progress.ts';
import { createStatusLine } from '../../src/cli/terminal/status-line.ts';
import type { LogFacts } from '../../src/telemetry/log.ts';
import type { Progress } from '../../src/ledger/summary.ts';
import { keptChannel } from './channels.ts';

const START_MS = Date.parse('2026-01-02T03:04:05Z');

function started(style: ProgressStyle, columns?: number) {
  const channel = keptChannel(columns);
  const status = createStatusLine(channel);
  const facts: LogFacts[] = [];
  let at = START_MS;
  const teller = createProgress({
    style,
    status,
    write: channel.write,
    now: () => new Date(at),
    redact: (text) => text.replaceAll('s3cret', '[redacted]'),
    log: (_message, fields) => facts.push(fields),
  });
  return {
    teller,
    status,
    facts,
    channel,
    /** Lines or rewritings so far. */
    printed: () =>
      channel
        .text()
        .split(/\n|\r/)
        .map((it) => it.replace('\u001b[K', ''))
        .filter((it) => it !== ''),
    pass: (ms: number) => {
      at += ms;
    },
  };
}

const progress = (done: number, more: Partial<Progress> = {}): Progress => ({
  sync: 'pages',
  done,
  total: 40,
  rows: 1200,
  points: 1,
  inFlight: 4,
  oldestSentAt: new Date(START_MS),
  waiting: 0,
  nextAttemptAt: undefined,
  waitStatuses: [],
  ...more,
});

describe('on a terminal', () => {
  it('says done of total, rows, points, what is in flight, the age of the oldest call and the time left', () => {
    const { teller, printed, pass } = started('live', 120);
    teller.update(progress(0));
    pass(2_000);
    teller.update(progress(10));
    expect(printed()).toEqual([
      'pages: 0 of 40 | 1,200 rows | 1 point | 4 in flight, oldest 0 ms',
      'pages: 10 of 40 | 1,200 rows | 1 point | 4 in flight, oldest 2 s | 6 s left',
    ]);
  });

  it('says how many requests wait, for which statuses, and when the next one is sent again', () => {
    const { teller, printed, pass } = started('live', 120);
    const nextAttemptAt = new Date(START_MS + 280_000);
    teller.update(
      progress(0, { inFlight: 0, oldestSentAt: undefined, waiting: 2, nextAttemptAt, waitStatuses: [429] }),
    );
    pass(270_000);
    teller.update(progress(0, { waiting: 1, nextAttemptAt }));
    expect(printed()).toEqual([
      'pages: 0 of 40 | 1,200 rows | 1 point | 0 in flight | 2 waiting (429), next in 4 min 40 s',
      'pages: 0 of 40 | 1,200 rows | 1 point | 4 in flight, oldest 4 min 30 s | 1 waiting, next in 10 s',
    ]);
  });

  it('rewrites one line at most ten times a second', () => {
    const { teller, printed, channel, pass } = started('live', 120);
    for (let done = 0; done < 100; done++) {
      teller.update(progress(done, { total: 100 }));
      pass(10);
    }
    expect(printed()).toHaveLength(10);
    expect(channel.text()).not.toContain('\n');
  });

  it('updates ages while no request ends', () => {
    const { teller, printed, pass } = started('live', 120);
    teller.update(progress(0));
    pass(3_000);
    teller.tick();
    expect(printed().at(-1)).toContain('oldest 3 s');
  });

  it('never fills the last column, and gives way to other lines', () => {
    const { teller, status, channel } = started('live', 30);
    teller.update(progress(0));
    status.around(() => channel.write('a warning\n'));
    const line = 'pages: 0 of 40 | 1,200 rows …';
    expect(channel.text()).toBe(`\r\u001b[K${line}\r\u001b[Ka warning\n\r\u001b[K${line}`);
    teller.end();
    teller.tick();
    expect(channel.text().endsWith(`${line}\r\u001b[K`)).toBe(true);
  });

  it('keeps secrets and control characters of a name out', () => {
    const { teller, printed } = started('live', 120);
    teller.update(progress(0, { sync: 'a s3cret \u001b[2J' }));
    expect(printed()[0]).toMatch(/^a \[redacted\] ␛\[2J: 0 of 40/);
  });
});

describe('off a terminal', () => {
  it('writes plain lines, at most one in five seconds, and no more than one a minute without news', () => {
    const { teller, printed, pass } = started('lines');
    for (let second = 0; second < 11; second++) {
      teller.update(progress(second));
      pass(1_000);
    }
    expect(printed().map((line) => line.split(' | ')[0])).toEqual([
      'pages: 0 of 40',
      'pages: 5 of 40',
      'pages: 10 of 40',
    ]);
    for (let second = 0; second < 60; second++) {
      pass(1_000);
      teller.tick();
    }
    expect(printed()).toHaveLength(4);
  });

  it('writes the fewer lines the longer it takes', () => {
    const { teller, printed, pass } = started('lines');
    const at: number[] = [];
    for (let second = 0; second < 3_600; second++) {
      const before = printed().length;
      teller.update(progress(second, { total: 4_000 }));
      if (printed().length > before) at.push(second);
      pass(1_000);
    }
    expect(at.length).toBeLessThan(110);
    expect(at.slice(0, 3)).toEqual([0, 5, 10]);
    expect((at.at(-1) ?? 0) - (at.at(-2) ?? 0)).toBe(60);
  });

  it('hands facts to a log that collects them', () => {
    const { teller, facts, channel, pass } = started('facts');
    pass(1_500);
    teller.update(progress(2));
    const same = { sync: 'pages', done: 2, total: 40, rows: 1200, points: 1, inFlight: 4, oldestMs: 1_500 };
    expect(facts).toEqual([{ ...same, waiting: 0 }]);
    pass(6_000);
    teller.update(progress(2, { waiting: 3, nextAttemptAt: new Date(START_MS + 8_000), waitStatuses: [429, 503] }));
    expect(facts[1]).toEqual({ ...same, oldestMs: 7_500, waiting: 3, waitMs: 500, waitStatuses: [429, 503] });
    expect(channel.text()).toBe('');
  });

  it('prints nothing in the style none', () => {
    const { teller, facts, channel } = started('none');
    teller.update(progress(2));
    teller.tick();
    expect([channel.text(), facts]).toEqual(['', []]);
  });
});

describe('timeLeftMs', () => {
  it('knows nothing before the first request ended in this run, or when all did', () => {
    const since = { at: START_MS, done: 10 };
    const now = new Date(START_MS + 1_000);
    expect(timeLeftMs({ done: 10, total: 40 }, since, now)).toBeUndefined();
    expect(timeLeftMs({ done: 40, total: 40 }, since, now)).toBeUndefined();
    expect(timeLeftMs({ done: 20, total: 40 }, since, now)).toBe(2_000);
  });
});
