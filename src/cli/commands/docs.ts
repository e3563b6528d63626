/** `sluice docs`: writes the reference and the JSON Schema for editors from the code, or compares them with the code. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { insteadOf } from '../../config/document/nearest.ts';
import { EXIT, UsageError } from '../../errors.ts';
import { command, flag, text, flagConflict } from '../command.ts';
import { writeOutputFile } from '../terminal/output-file.ts';
import { withNoun } from '../terminal/print.ts';
import type { GeneratedFile } from '../reference/files.ts';
import { show, showGenerated } from '../terminal/show.ts';

export const docs = command({
  about:
    'In the folder of a checkout of Sluice, or with --output, write the reference to docs/ (commands, endpoints, entities, errors, tables, dictionary.html, schema.dbml) and the JSON Schema to configs/sync.schema.json. ' +
    'Elsewhere, or with names of pages, print pages of the reference as Markdown and write nothing. ' +
    'With --check, list missing and stale files and write nothing; the exit code is 1 if there are any.',
  options: {
    check: flag('Compare the files with the code; write nothing.'),
    output: text('DIR', 'Folder that holds docs/ and configs/ (default: the working directory, if it is a checkout).'),
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
    if (pages.length > 0 && (check || output !== undefined))
      throw flagConflict('docs', [check ? '--check' : '--output', 'names of pages'], {
        because: 'it covers all files',
      });
    const [{ allCommands }, { generatedFiles }, { schemaText }, { isCheckout }] = await Promise.all([
      import('../commands.ts'),
      import('../reference/files.ts'),
      import('../reference/schema-text.ts'),
      import('../package.ts'),
    ]);
    const files = generatedFiles(await allCommands(), schemaText());
    const folder = output ?? (isCheckout('.') ? '.' : undefined);
    if (pages.length > 0 || (folder === undefined && !check)) {
      const printed = pagesOf(files, pages);
      showGenerated(
        context,
        'docs-pages/1',
        Object.fromEntries(printed.map(({ path, content }) => [path, content])),
        () => printed.map(({ content }) => content).join('\n'),
      );
      return EXIT.complete;
    }
    if (folder === undefined) throw notACheckout();
    const stale = await staleOf(files, folder);
    const paths = stale.map(({ path }) => path);
    if (check) {
      show(context, 'docs-check/1', { stale: paths }, () =>
        paths.length === 0 ? FRESH : paths.map((it) => `${join(folder, it)} is stale\n`).join(''),
      );
      if (paths.length > 0)
        context.log.warn(`${withNoun(paths.length, 'generated file')} out of date: run npm run docs`);
      return paths.length === 0 ? EXIT.complete : EXIT.bug;
    }
    for (const { path, content } of stale) {
      await writeOutputFile('docs', '--output', { path: join(folder, path), content, makesFolders: true });
    }
    show(context, 'docs/1', { written: paths }, () =>
      paths.length === 0 ? FRESH : paths.map((it) => `wrote ${join(folder, it)}\n`).join(''),
    );
    return EXIT.complete;
  },
});

/** Without this error, `--check` would report every file as stale. */
const notACheckout = (): UsageError =>
  new UsageError('docs: --check compares the files of a checkout, and the working directory is not its folder.', {
    next: 'Run it in the folder of the checkout, or name a folder with --output.',
  });

const FRESH = 'all generated files are up to date\n';

/** The Markdown pages with these names; all pages if there are no names. Throws a UsageError for an unknown name. */
function pagesOf(files: readonly GeneratedFile[], names: readonly string[]): GeneratedFile[] {
  const pages = files.filter(({ path }) => path.endsWith('.md'));
  const nameOf = ({ path }: GeneratedFile): string => basename(path, '.md');
  const known = pages.map(nameOf);
  for (const name of names)
    if (!known.includes(name))
      throw new UsageError(`docs: ${JSON.stringify(name)} is not a page${insteadOf(name, known)}`, {
        next: 'Name pages of the reference, or none for all of them.',
      });
  return names.length === 0 ? pages : pages.filter((page) => names.includes(nameOf(page)));
}

/** The files that are missing in the folder or have other contents. */
async function staleOf(files: readonly GeneratedFile[], folder: string): Promise<GeneratedFile[]> {
  const found = await Promise.all(files.map(({ path }) => readFile(join(folder, path), 'utf8').catch(() => undefined)));
  return files.filter(({ content }, index) => found[index] !== content);
}
