import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const HEAP = new URL('../../src/cli/heap.ts', import.meta.url).href;

/** Megabytes at which it stops: 32, and a page that a collection in progress may hold. */
const EARLY = 33;

/**
 * Megabytes of the young generation after a process has made and dropped so many millions, with waits in which others
 * get a turn, or as soon as it is past the early stop.
 */
async function youngAfterwards(begin: string, millions: number): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { setImmediate as others } from 'node:timers/promises';
    ${begin}
    const young = () => getHeapSpaceStatistics().find((it) => it.space_name === 'new_space').space_size / 2 ** 20;
    let kept = [];
    for (let made = 0; made < ${millions} * 1e6; made += 1) {
      kept.push({ made, list: [made] });
      if (kept.length > 40_000) kept = [];
      if (made % 10_000 > 0) continue;
      if (young() > ${EARLY}) break;
      await others();
    }
    console.log(young());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}

it('the young generation stops growing early', async () => {
  // When it grows depends on how the threads that collect get their turns: some processes take longer.
  expect(await youngAfterwards('', 60)).toBeGreaterThan(EARLY);
  expect(
    await youngAfterwards(`const { keepHeapSmall } = await import(${JSON.stringify(HEAP)}); keepHeapSmall();`, 6),
  ).toBeLessThanOrEqual(EARLY);
});
