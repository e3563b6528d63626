/** `sluice docs`: the reference and the editor’s schema, written from the code or compared with it. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { insteadOf } from '../../config/document/nearest.ts';
import { EXIT, UsageError } from '../../errors.ts';
import { command } from '../command.ts';
import { writeOutputFile } from '../terminal/output-file.ts';
import { withNoun } from '../terminal/print.ts';
import type { GeneratedFile } from '../reference/files.ts';
import { show } from '../terminal/show.ts';

export const docs = command({
  about:
    'In a checkout of Sluice, or with --output: writes the reference to docs/ (commands, endpoints, errors, tables, dictionary.html, entities.md, schema.dbml) and configs/sync.schema.json, all from the code. ' +
    'Elsewhere, or with the names of pages: prints pages of the reference as Markdown and writes nothing. ' +
    'With --check nothing is written: missing and stale files are listed, and the exit code is 1 if there are any.',
  options: {
    check: { type: 'flag', about: 'Compare the files with the code; write nothing.' },
    output: { type: 'text', value: 'DIR', about: 'Folder that holds docs/ and configs/ (default: the checkout).' },
  },
  positionals: {
    pages: { takes: 'many', about: 'Pages to print: commands, endpoints, entities, errors, tables.' },
  },
  examples: [
    { line: 'sluice docs tables', about: 'Print the tables and their columns.' },
    { line: 'sluice docs --output reference', about: 'Write all files to a folder.' },
    { line: 'sluice docs --check', about: 'List generated files that are stale.' },
  ],
  run: async ({ check, output, pages }, context) => {
    const [{ allCommands }, { generatedFiles }, { schemaText }, { isCheckout }] = await Promise.all([
      import('../commands.ts'),
      import('../reference/files.ts'),
      import('../reference/schema-text.ts'),
      import('../package.ts'),
    ]);
    const files = generatedFiles(await allCommands(), schemaText());
    if (pages.length > 0 || (output === undefined && !check && !isCheckout('.'))) {
      const printed = pagesOf(files, pages);
      show(context, Object.fromEntries(printed.map(({ path, content }) => [path, content])), () =>
        printed.map(({ content }) => content).join('\n'),
      );
      return EXIT.complete;
    }
    const folder = output ?? '.';
    const stale = await staleOf(files, folder);
    const paths = stale.map(({ path }) => path);
    if (check) {
      show(context, { stale: paths }, () =>
        paths.length === 0 ? FRESH : paths.map((it) => `${it} is stale\n`).join(''),
      );
      if (paths.length > 0)
        context.log.warn(`${withNoun(paths.length, 'generated file')} out of date: run npm run docs`);
      return paths.length === 0 ? EXIT.complete : EXIT.bug;
    }
    for (const { path, content } of stale) {
      await writeOutputFile('docs', '--output', { path: join(folder, path), content, makesFolders: true });
    }
    show(context, { written: paths }, () => (paths.length === 0 ? FRESH : paths.map((it) => `wrote ${it}\n`).join('')));
    return EXIT.complete;
  },
});

const FRESH = 'every generated file is as the code says\n';

/** The Markdown pages with these names; all of them when none is named. Throws a UsageError for a name that is no page. */
function pagesOf(files: readonly GeneratedFile[], names: readonly string[]): GeneratedFile[] {
  const pages = files.filter(({ path }) => path.endsWith('.md'));
  const nameOf = ({ path }: GeneratedFile): string => basename(path, '.md');
  const known = pages.map(nameOf);
  for (const name of names)
    if (!known.includes(name))
      throw new UsageError(`docs: ${JSON.stringify(name)} is no page${insteadOf(name, known)}`, {
        next: 'Name pages of the reference, or none for all of them.',
      });
  return names.length === 0 ? pages : pages.filter((page) => names.includes(nameOf(page)));
}

/** The files that are missing in that folder or hold something else. */
async function staleOf(files: readonly GeneratedFile[], folder: string): Promise<GeneratedFile[]> {
  const found = await Promise.all(files.map(({ path }) => readFile(join(folder, path), 'utf8').catch(() => undefined)));
  return files.filter(({ content }, at) => found[at] !== content);
}
