/** The watchdog of an embedded database whose folder is gone while a statement runs. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startWatchdog } from '../../src/warehouse/embedded/watchdog.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('ends a statement that runs for more than 10 seconds, and no shorter one', () => {
  let busy: number | undefined;
  const fail = vi.fn<(error: Error) => void>();
  startWatchdog('/there/is/no/such/folder', { busyMs: () => busy, fail });
  for (busy of [undefined, 9_999]) {
    vi.advanceTimersByTime(1000);
    expect(fail).not.toHaveBeenCalled();
  }
  busy = 10_000;
  vi.advanceTimersByTime(1000);
  expect(fail).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ exitCode: 5, message: expect.stringContaining('the folder is gone') as string }),
  );
});
