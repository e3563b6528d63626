/** Runs the README's commands, as they stand there, in a copy of the project. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { blocksOf, copiedProject, pageOf } from './shell-blocks.ts';

const blocks = blocksOf(await pageOf('README.md'));

/** A project for one test, and its shell. */
async function opened(program: 'sources' | 'bundle') {
  const project = await copiedProject(program);
  onTestFinished(() => project.remove());
  const run = async (script: string): Promise<string> => {
    const { code, out, err } = await project.run(script);
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    return out;
  };
  return { project, run };
}

/** The dependencies are there already, as links. */
const installed = (script: string): string => script.replaceAll('npm ci && ', '');

describe('the README', () => {
  it('brings every endpoint into the warehouse with its first command, and shows what is there', {
    timeout: 120_000,
  }, async () => {
    const { run } = await opened('sources');
    const [first, look] = blocks.filter(({ tags }) => tags.includes('run'));
    const started = await run(installed(first?.body ?? ''));
    expect(started).toMatch(/^total .* exit 0$/m);
    const offered = /npm run -s sluice -- query "[^"]+"/.exec(started)?.[0] ?? '';
    expect(await run(offered)).toContain('pronet.search.users');
    const shown = await run(look?.body ?? '');
    expect(shown).toMatch(/^name +headline +location$/m);
    expect(shown).toContain('webparser.parse');
  });

  it('leads to a first sync against the sandbox', { timeout: 120_000 }, async () => {
    const { project, run } = await opened('bundle');
    const at = blocks.findIndex(({ tags }) => tags.includes('background'));
    const [begin, set, sync] = blocks.slice(at);
    // On a free port, as any port that a test names may be taken.
    const exported = await project.startSandbox(begin?.body ?? '');
    const asWritten = exported.map((line) => line.replace(/:\d+$/, ':8787'));
    expect(set?.body.split('\n').slice(0, 2)).toEqual(asWritten);
    const variables = set?.body.split('\n').filter((line) => line.startsWith('export ')) ?? [];
    const there = [...variables, ...exported].join('\n');
    const wrote = await run(set?.body ?? '');
    expect(wrote).toContain('wrote mine/sluice.yaml');
    const out = await run(`${there}\n${sync?.body}`);
    expect(out).toMatch(/^ok +config/m);
    expect(out).toMatch(/^pages .* complete$/m);
    expect(out).toMatch(/^https:\/\/site-1\.example\/about /m);
  });
});
