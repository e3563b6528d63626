/** `sluice docs`: the reference and the editor’s schema, written from the code or compared with it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../errors.ts';
import { command } from '../command.ts';
import { writeOutputFile } from '../output-file.ts';
import { counted } from '../print.ts';
import type { GeneratedFile } from '../reference/files.ts';
import { show } from '../show.ts';

export const docs = command({
  about:
    'Writes to docs/ the reference of commands, endpoints, errors and tables, the data dictionary as one page with a search (dictionary.html), the diagrams of the tables (entities.md, schema.dbml), and configs/sync.schema.json, all from the code. ' +
    'With --check nothing is written: what is missing or stale is listed, and the exit code is 1.',
  options: {
    check: { type: 'flag', about: 'Only compare the files with the code.' },
    output: {
      type: 'text',
      value: 'DIR',
      about: 'The folder that holds docs/ and configs/; else the working directory.',
    },
  },
  positionals: {},
  examples: [
    { line: 'sluice docs', about: 'Write them.' },
    { line: 'sluice docs --check', about: 'See whether they are as the code says.' },
  ],
  run: async ({ check, output = '.' }, context) => {
    const [{ allCommands }, { generatedFiles }, { schemaText }] = await Promise.all([
      import('../commands.ts'),
      import('../reference/files.ts'),
      import('../reference/schema-text.ts'),
    ]);
    const files = generatedFiles(await allCommands(), schemaText());
    const stale = await staleOf(files, output);
    const paths = stale.map(({ path }) => path);
    if (check) {
      show(context, { stale: paths }, () =>
        paths.length === 0 ? FRESH : paths.map((it) => `${it} is stale\n`).join(''),
      );
      if (paths.length > 0) context.log.warn(`${counted(paths.length, 'generated file')} to mend: run npm run docs`);
      return paths.length === 0 ? EXIT.complete : EXIT.bug;
    }
    for (const { path, content } of stale) {
      await writeOutputFile('docs', '--output', { path: join(output, path), content, makesFolders: true });
    }
    show(context, { written: paths }, () => (paths.length === 0 ? FRESH : paths.map((it) => `wrote ${it}\n`).join('')));
    return EXIT.complete;
  },
});

const FRESH = 'every generated file is as the code says\n';

/** The files that are missing in that folder or hold something else. */
async function staleOf(files: readonly GeneratedFile[], folder: string): Promise<GeneratedFile[]> {
  const found = await Promise.all(files.map(({ path }) => readFile(join(folder, path), 'utf8').catch(() => undefined)));
  return files.filter(({ content }, at) => found[at] !== content);
}
