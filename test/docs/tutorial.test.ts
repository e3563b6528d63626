/** Runs the tutorial's commands in their order, in a copy of the project, and holds its outputs against what comes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf, copiedProject, pageOf, type Project } from './shell-blocks.ts';

const blocks = blocksOf(await pageOf('docs/tutorial.md'));

/** Runs the program as npm would. The test of the README uses npm, which takes as long as half of a command. */
const WITHOUT_NPM = `npm() {
  [ "$1 $2 $3 $4" = "run -s sluice --" ] || { echo "unexpected: npm $*" >&2; return 1; }
  shift 4
  node src/main.js "$@"
}`;

let project: Project;
/** Variables that scripts after this one see, each as an `export`. */
let exported: readonly string[];
beforeAll(async () => {
  project = await copiedProject('bundle');
  const background = blocks.find(({ tags }) => tags.includes('background'));
  exported = await project.startSandbox(background?.body ?? '');
});
afterAll(() => project.remove());

/** Blocks of shell that are to be run, each with the lines that are shown after it. */
const steps = blocks.flatMap(({ language, tags, body }, at) => {
  if (language !== 'sh' || tags.includes('background')) return [];
  const next = blocks[at + 1];
  return [{ body, tags, shown: next?.language === 'text' ? next.body.trimEnd().split('\n') : [] }];
});

describe('the tutorial', () => {
  it('shows nothing that is not run', () => {
    expect(steps.length).toBeGreaterThan(8);
    expect(steps.filter(({ tags }) => !tags.includes('run'))).toEqual([]);
  });

  it('does what it says, step by step', { timeout: 600_000 }, async () => {
    const [first] = steps;
    expect(first?.body.trimEnd().split('\n')).toEqual(exported.map((line) => line.replace(/:\d+$/, ':8787')));
    for (const { body, shown } of steps.slice(1)) {
      const { code, out, err } = await project.run([WITHOUT_NPM, ...exported, body].join('\n'));
      expect({ body, code, err: code === 0 ? '' : err }).toEqual({ body, code: 0, err: '' });
      for (const line of shown) expect(out, body).toMatch(new RegExp(`^${line}$`, 'm'));
      exported = [...exported, ...body.split('\n').filter((line) => line.startsWith('export '))];
    }
  });
});
