/** `sluice init`: a first config, with what belongs beside it. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { visible } from '../../ops/visible.ts';
import { command } from '../command.ts';
import { show } from '../show.ts';

export const init = command({
  name: 'init',
  summary: 'Writes a commented config, .env.example and the editor’s schema.',
  about:
    'Writes sluice.yaml, .env.example and sync.schema.json, and a .gitignore where there is none. ' +
    'What is there already is left alone, and nothing is written, unless --force is given.',
  options: {
    dir: { type: 'text', value: 'DIR', about: 'The folder to write to; else the working directory.' },
    force: { type: 'flag', about: 'Write over what is there.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice init', about: 'In this folder.' },
    { line: 'sluice init --dir warehouse', about: 'In another, which is made when it is not there.' },
  ],
  run: async ({ dir = '.', force }, context) => {
    const [{ configTemplate, ENV_EXAMPLE, GITIGNORE }, { schemaText }] = await Promise.all([
      import('../../config/template.ts'),
      import('../reference/schema-text.ts'),
    ]);
    const files = [
      { path: join(dir, 'sluice.yaml'), content: configTemplate('./sync.schema.json') },
      { path: join(dir, '.env.example'), content: ENV_EXAMPLE },
      { path: join(dir, 'sync.schema.json'), content: schemaText() },
    ];
    const there = files.map(({ path }) => path).filter((path) => existsSync(path));
    if (there.length > 0 && !force) {
      throw new UsageError(
        `init: ${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already; nothing was written`,
        {
          next: 'Name another folder with --dir, or write over what is there with --force.',
        },
      );
    }
    const ignore = join(dir, '.gitignore');
    const all = existsSync(ignore) ? files : [...files, { path: ignore, content: GITIGNORE }];
    await mkdir(dir, { recursive: true }).catch(refuse(dir));
    for (const { path, content } of all) {
      await writeFile(path, content, { flag: force ? 'w' : 'wx' }).catch(refuse(path));
    }
    const written = all.map(({ path }) => path);
    show(context, { written }, () => `${written.map((path) => `wrote ${visible(path)}\n`).join('')}${NEXT}`);
    return 0;
  },
});

const NEXT = 'next: set SLUICE_SERVICE_TOKEN as .env.example shows, then run sluice check and sluice plan\n';

const refuse =
  (path: string) =>
  (cause: unknown): never => {
    throw new UsageError(`init: ${path} can’t be written: ${(cause as Error).message}`, { cause });
  };
