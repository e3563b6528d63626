import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const HEAP = new URL('../../src/cli/heap.ts', import.meta.url).href;

/** Megabytes of the young generation after a process has made and dropped much, with waits in which others get a turn. */
async function youngAfterwards(begin: string): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { setImmediate as others } from 'node:timers/promises';
    ${begin}
    let kept = [];
    for (let made = 0; made < 3_000_000; made += 1) {
      kept.push({ made, list: [made] });
      if (kept.length > 40_000) kept = [];
      if (made % 10_000 === 0) await others();
    }
    console.log(getHeapSpaceStatistics().find((it) => it.space_name === 'new_space').space_size / 2 ** 20);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}

it('the young generation stops growing early', async () => {
  expect(await youngAfterwards('')).toBeGreaterThan(32);
  expect(
    await youngAfterwards(`const { keepHeapSmall } = await import(${JSON.stringify(HEAP)}); keepHeapSmall();`),
  ).toBeLessThanOrEqual(32);
});
