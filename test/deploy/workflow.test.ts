/** The step of the workflow for GitHub Actions that runs the syncs, in a shell as on a runner. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { limitedRuns, playedProgram, retriedRuns } from './played-runs.ts';
import { documentOf } from './published.ts';

interface Step {
  readonly id?: string;
  readonly run?: string;
}

const { jobs } = documentOf('deploy/github-actions.yaml') as {
  readonly jobs: { readonly sync: { readonly steps: readonly Step[] } };
};
const script = jobs.sync.steps.find(({ id }) => id === 'sync')?.run ?? '';
const works = (command: string, ...words: readonly string[]): boolean => spawnSync(command, words).status === 0;

interface StepVariables {
  readonly MAX_POINTS?: string;
  readonly DATABASE_URL?: string;
}

/** Runs the step with this program in the place of npx. */
async function runStep(runs: Parameters<typeof playedProgram>[1], variables: StepVariables = {}) {
  const { folder, calls } = await playedProgram('npx', runs);
  await writeFile(join(folder, 'sleep'), `#!/bin/sh\necho "$1" >> "$(dirname "$0")/waits"\n`, { mode: 0o755 });
  const child = spawn('bash', ['--norc', '-e', '-c', script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: [folder, process.env['PATH'] ?? ''].join(delimiter),
      MAX_POINTS: '50',
      DATABASE_URL: 'postgres://db.example/data',
      ...variables,
      GITHUB_OUTPUT: join(folder, 'output'),
    },
  });
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  expect([out, err]).toEqual(['', '']);
  const read = (file: string) => readFile(join(folder, file), 'utf8');
  expect(await read('output')).toBe(`exit_code=${String(code)}\n`);
  return { code: code as number, calls: await calls(), read };
}

// Machines without these tools are no runners.
const isRunner = works('bash', '-c', 'type mapfile') && works('jq', '--version');
describe.runIf(isRunner)('a run of the workflow', () => {
  it.each(retriedRuns)('%s', async (_, runs, calls, code) => {
    const done = await runStep(runs);
    expect(done.code).toBe(code);
    const left = (at: number): number => 50 - runs.slice(0, at).flatMap(({ syncs }) => syncs ?? []).length;
    expect(done.calls).toEqual(
      calls.map((words, at) => `--no-install sluice ${words} --json --max-points ${left(at)}`),
    );
    const summaries = (await done.read('summaries.json')).split('}{');
    expect(summaries).toHaveLength(runs.filter(({ syncs }) => syncs).length);
  });

  it.each(limitedRuns)('%s', async (_, runs, limits, code) => {
    const done = await runStep(runs, { MAX_POINTS: '5' });
    expect(done.code).toBe(code);
    expect(done.calls.map((call) => Number(/--max-points (\d+)$/.exec(call)?.[1]))).toEqual(limits);
  });

  it.each(['', 'embedded:.sluice'])('without a server for its warehouse (%j) sends nothing', async (DATABASE_URL) => {
    const { folder, calls } = await playedProgram('npx', []);
    const child = spawnSync('bash', ['--norc', '-e', '-c', script], {
      cwd: folder,
      env: { PATH: [folder, process.env['PATH'] ?? ''].join(delimiter), MAX_POINTS: '5', DATABASE_URL },
    });
    expect(child.status).toBe(2);
    expect(child.stdout.toString()).toContain('DATABASE_URL must name a Postgres server');
    await expect(calls()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that does not get through is tried four times', async () => {
    const { code, calls, read } = await runStep([1, 2, 3, 4].map(() => ({ code: 5 })));
    expect([code, calls.length]).toEqual([5, 4]);
    expect(await read('waits')).toBe('30\n60\n120\n0\n');
  });

  it.each([1, 2, 3, 4, 6, 8])('with exit code %i is not tried again', async (exitCode) => {
    const { code, calls } = await runStep([{ code: exitCode }]);
    expect([code, calls.length]).toEqual([exitCode, 1]);
  });
});
