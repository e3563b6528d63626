/** Runs the README's commands, as they stand there, in a copy of the project. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../support/database.ts';
import { IS_LONG } from '../support/long.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { blocksOf, copiedProject, pageOf } from './shell-blocks.ts';

const blocks = blocksOf(await pageOf('README.md'));

/** A project for one test, and its shell. */
async function opened(program: 'sources' | 'bundle') {
  const project = await copiedProject(program);
  onTestFinished(() => project.remove());
  const run = async (script: string, how: 'npm' | 'process' | 'inside'): Promise<string> => {
    const { code, out, err } = await project.run(script, IS_LONG ? 'npm' : how);
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
    const { project, run } = await opened('sources');
    // Warehouse and spool of the checkout itself are left alone. The tests of the package run the quickstart in a folder.
    const database = IS_LONG ? undefined : await freshDatabase(await postgresTemplate());
    if (database) onTestFinished(() => database.drop());
    const url = database?.url ?? `embedded:${join(project.folder, '.sluice')}`;
    const place = `export DATABASE_URL='${url}' SLUICE_SPOOL='${join(project.folder, 'spool')}'\n`;
    const [first, look] = blocks.filter(({ tags }) => tags.includes('run'));
    const started = await run(place + installed(first?.body ?? ''), 'npm');
    expect(started).toMatch(/^total .* exit 0$/m);
    const offered = /npm run -s sluice -- query "[^"]+"/.exec(started)?.[0] ?? '';
    expect(await run(place + offered, 'inside')).toContain('pronet.search.users');
    const shown = await run(place + (look?.body ?? ''), 'inside');
    expect(shown).toMatch(/^name +headline +location$/m);
    expect(shown).toContain('webparser.parse');
  });

  it('leads to a first sync against the sandbox', { timeout: 120_000 }, async () => {
    const { project, run } = await opened('bundle');
    const at = blocks.findIndex(({ tags }) => tags.includes('background'));
    const [begin, set, sync] = blocks.slice(at);
    // On a free port, because a port that a test names may be taken.
    const exported = await project.startSandbox(begin?.body ?? '', IS_LONG ? 'npm' : 'process');
    const asWritten = exported.map((line) => line.replace(/:\d+$/, ':8787'));
    expect(set?.body.split('\n').slice(0, 2)).toEqual(asWritten);
    const variables = set?.body.split('\n').filter((line) => line.startsWith('export ')) ?? [];
    const there = [...variables, ...exported].join('\n');
    const wrote = await run(set?.body ?? '', 'inside');
    expect(wrote).toContain('wrote mine/sluice.yaml');
    if (!IS_LONG) await copyEmbedded(join(project.folder, 'mine', '.sluice'));
    const out = await run(`${there}\n${sync?.body}`, 'inside');
    expect(out).toMatch(/^ok +config/m);
    expect(out).toMatch(/^pages .* complete$/m);
    expect(out).toMatch(/^https:\/\/site-1\.example\/about /m);
  });
});
