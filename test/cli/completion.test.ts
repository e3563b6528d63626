/** Completion: what is offered for a line that is being typed, and that real shells offer it by the scripts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../../src/cli/commands.ts';
import { SHELLS } from '../../src/cli/completion/scripts.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

const commands = await allCommands();

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const CONFIG = 'syncs:\n  pages: { endpoint: webparser.parse }\n  people: { endpoint: no.such }\n  costs:\n';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let config: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  config = join(folder.path, 'sluice.yaml');
  await writeFile(config, CONFIG);
  await writeFile(join(folder.path, 'broken.yaml'), `${CONFIG}  [`);
  await mkdir(join(folder.path, 'bin'));
  const program = join(folder.path, 'bin', 'sluice');
  await writeFile(program, '#!/bin/sh\nexec "$NODE" "$MAIN" "$@"\n');
  await chmod(program, 0o755);
});
afterAll(() => folder.remove());

it('the script names the program, also if a password is equal to its name', async () => {
  const { out } = await runInProcess(['completion', 'bash'], { env: { PGPASSWORD: 'sluice' } });
  expect(out).toContain('complete -F _sluice');
});

/** The words that are offered, or where paths are, the kind of these. */
async function offered(...typed: string[]): Promise<string[]> {
  const { code, out, err } = await runInProcess(['complete', '--', ...typed], { env: { SLUICE_CONFIG: config } });
  expect([code, err]).toEqual([0, '']);
  return out
    .split('\n')
    .flatMap((line) => line.split('\t')[0] ?? [])
    .filter((word) => word !== '');
}

describe('what is offered', () => {
  it('for a command is every one that the help lists, with its meaning', async () => {
    const listed = commands.filter(({ hidden }) => hidden !== true);
    expect(await offered('')).toEqual(listed.map(({ name }) => name));
    expect(await offered('--json', 'com')).toEqual(['completion']);
    const { out } = await runInProcess(['complete', '--', 'sy']);
    expect(out).toBe(`sync\t${listed.find(({ name }) => name === 'sync')?.summary}\n`);
  });

  it.each([
    [['--v'], ['--verbose', '--version']],
    [['sync', '--max'], ['--max-points']],
    [['sync', '--max-points', '5', '--max'], []],
    [['sync', '--max-points', ''], []],
    [
      ['migrate', ''],
      ['up', 'down', 'status'],
    ],
    [['migrate', 'up', ''], []],
    [['completion', 'f'], ['fish']],
    [
      ['sync', 'p'],
      ['pages', 'people'],
    ],
    [
      ['sync', 'pages', ''],
      ['people', 'costs'],
    ],
    [['plan', '--refresh', 'c'], ['costs']],
    [['sync', '--', 'pe'], ['people']],
    [['check', '--config', ''], [':files']],
    [['check', '--config=s'], [':files']],
    [['check', '--config', '=', 's'], [':files']],
    [['init', '--dir', ''], [':folders']],
    [['init', 'photoshare.user.posts', 'photoshare'], ['photoshare.user']],
    [['export', 'sec_filing_items', 'sec_filing_i'], ['sec_filing_inc_states']],
    [['export', 'sec_filing_ov'], ['sec_filing_overview']],
    [['endpoints', 'photoshare.user.'], ['photoshare.user.posts']],
    [
      ['tables', 'pronet_industries'],
      ['pronet_industries', 'pronet_industries_presence', 'pronet_industries_history'],
    ],
    [['describe', 'pronet.s'], ['pronet.search.users']],
    [
      ['describe', 'pa'],
      ['paid_answers', 'pages'],
    ],
    [['describe', 'web_pages.ti'], ['web_pages.title']],
    [['query', ''], []],
    [['none', ''], []],
  ])('for %j is %j', async (typed, words) => {
    expect(await offered(...typed)).toEqual(words);
  });

  it('of flags is each that the command declares', async () => {
    for (const { name, options } of commands) {
      const flags = await offered(name, '--');
      for (const option of Object.keys(options)) expect(flags).toContain(`--${option}`);
      expect(flags).toEqual(expect.arrayContaining(['--json', '--help']));
    }
  });

  it('of syncs is that of the config on the line, however broken, and nothing of one that is not there', async () => {
    expect(await offered('sync', '--config', join(folder.path, 'broken.yaml'), 'pa')).toEqual(['pages']);
    expect(await offered('sync', `--config=${join(folder.path, 'none.yaml')}`, '')).toEqual([]);
    expect(await offered('sync', '--config', folder.path, '')).toEqual([]);
  });
});

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const present = SHELLS.filter(has);

/** The shell's own completions for the words, in the folder of the config. */
function completed(shell: (typeof SHELLS)[number], words: readonly string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const asking = {
    bash: `source <(sluice completion bash)
      COMP_WORDS=(sluice ${quoted}); COMP_CWORD=${words.length}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // The part of zsh that shows a menu needs a terminal; what it is given is what counts.
    zsh: `compdef() { :; }; compset() { :; }; _files() { print -l -- *(N); }
      _describe() { local it; for it in "\${(@P)4}"; do print -r -- "\${it%%:*}"; done }
      source <(sluice completion zsh)
      words=(sluice ${quoted}); CURRENT=${words.length + 1}; _sluice`,
    fish: `sluice completion fish | source; complete -C 'sluice ${words.join(' ')}'`,
  }[shell];
  const path = `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}`;
  const out = execFileSync(shell, ['-c', asking], {
    cwd: folder.path,
    env: { PATH: path, HOME: folder.path, NODE: process.execPath, MAIN },
    encoding: 'utf8',
  });
  return out
    .split('\n')
    .flatMap((line) => line.split('\t')[0] ?? [])
    .filter((word) => word !== '');
}

describe.each(present)('%s', (shell) => {
  it('offers commands, flags, syncs and files', () => {
    expect(completed(shell, ['comp'])).toEqual(['completion']);
    expect(completed(shell, ['sync', '--fail-'])).toEqual(['--fail-on-truncated']);
    expect(completed(shell, ['sync', 'p']).toSorted()).toEqual(['pages', 'people']);
    expect(completed(shell, ['check', '--config', ''])).toEqual(expect.arrayContaining(['broken.yaml', 'sluice.yaml']));
  });
});

describe('sluice completion', () => {
  it('knows the shells that it lists, and refuses others', async () => {
    for (const shell of SHELLS) expect((await runInProcess(['completion', shell])).out).toContain('complete -- ');
    const { code, err } = await runInProcess(['completion', 'tcsh']);
    expect([code, err]).toEqual([2, expect.stringContaining('found "tcsh", allowed are bash, zsh, fish')]);
  });

  it('is tried in bash at least', () => {
    expect(present).toContain('bash');
  });
});
