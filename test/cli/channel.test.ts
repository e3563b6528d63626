/** The process's streams: colour, width, and readers that go away. */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { channelOf } from '../../src/cli/terminal/channel.ts';

class Stream extends EventEmitter {
  readonly isTTY: boolean;
  columns = 80;
  written = '';

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  write(text: string, done?: unknown): boolean {
    this.written += text;
    if (typeof done === 'function') done();
    return true;
  }
}

const channel = (isTTY: boolean, env: Readonly<Record<string, string>> = {}) =>
  channelOf(new Stream(isTTY) as never, env);

describe('colour', () => {
  it.each([
    [true, {}, true],
    [true, { NO_COLOR: '' }, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
    [false, { FORCE_COLOR: '1' }, false],
  ])('is for terminals that want it: %j %j', (isTTY, env, color) => {
    expect(channel(isTTY, env).color).toBe(color);
  });
});

describe('width', () => {
  it('is the terminal’s own as it is now', () => {
    const stream = new Stream(true);
    const made = channelOf(stream as never, {});
    expect(made.columns).toBe(80);
    stream.columns = 120;
    expect(made.columns).toBe(120);
    stream.columns = 0;
    expect(made.columns).toBeUndefined();
    expect(channel(false).columns).toBeUndefined();
  });
});

describe('a reader that goes away', () => {
  it('is no failure, and nothing more is written to it', async () => {
    const stream = new Stream(false);
    const made = channelOf(stream as never, {});
    made.write('a');
    stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
    made.write('b');
    expect([stream.written, await made.flush()]).toEqual(['a', undefined]);
    expect(made.isOpen?.()).toBe(false);
  });

  it('differs from a disk that is full', async () => {
    const stream = new Stream(false);
    const made = channelOf(stream as never, {});
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    stream.emit('error', full);
    expect(await made.flush()).toBe(full);
  });
});
