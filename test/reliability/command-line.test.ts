import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { wantedBy } from './command-line.ts';

/** Runs the command outside of vitest, as `npm run reliability` does. */
const run = (...words: string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL('./run.ts', import.meta.url)), ...words], {
    encoding: 'utf8',
    env: { ...process.env, VITEST: undefined },
  });

test('the command line sets numbers and titles, and the rest has defaults', async () => {
  await expect(wantedBy(['--seed', '7', '--only', 'Faults of both', '--date', '2026-01-02'])).resolves.toMatchObject({
    seed: 7,
    share: 1,
    only: 'Faults of both',
    date: '2026-01-02',
    output: 'docs/reliability.md',
  });
});

test.each([
  [['--sed', '1'], 'Unknown argument: sed'],
  [['--seed', 'x'], '--seed must be an integer.'],
  [['--share', '0'], '--share must be above 0 and at most 1.'],
  [['--share', '2'], '--share must be above 0 and at most 1.'],
])('the command line %j is refused before a scenario starts', (words, why) => {
  const { status, stderr } = run(...words);
  expect(status).toBe(1);
  expect(stderr).toContain(why);
});
