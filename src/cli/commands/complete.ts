/** `sluice complete`: called by the completion scripts at each press of the tab key. It is fast, and prints no errors. */
import { existsSync } from 'node:fs';
import { escapeControls } from '../../text/terminal-safe.ts';
import { command } from '../command.ts';
import type { CompletionWord, CompletionOffer } from '../completion/candidates.ts';
import type { Context } from '../context.ts';

export const complete = command({
  about:
    'Used by the scripts of sluice completion. Print one line for each possible next word: the word, a tab and its meaning. ' +
    'The line :files or :folders means that a path can follow. The command reads only the names of the syncs from the config, and prints no errors.',
  options: {},
  positionals: {
    words: { takes: 'many', about: 'The words after the name of the program; the last one can be empty.' },
  },
  examples: [{ line: 'sluice complete -- sync --max', about: 'Complete a flag.' }],
  run: async ({ words }, context) => {
    const [{ offerFor }, { allCommands }] = await Promise.all([
      import('../completion/candidates.ts'),
      import('../commands.ts'),
    ]);
    const offer = offerFor(words, await allCommands());
    const candidates = [...offer.candidates, ...(await namesFor(offer, context))];
    const lines = candidates.map(({ word, about }) => `${escapeControls(word)}\t${escapeControls(about)}\n`);
    context.out.write([...lines, ...(offer.paths ? [`:${offer.paths}\n`] : [])].join(''));
    return 0;
  },
});

/** The names that start with the typed prefix and are not on the command line yet. */
async function namesFor({ names }: CompletionOffer, context: Context): Promise<CompletionWord[]> {
  if (!names) return [];
  const { kind, config, prefix, typed } = names;
  const readers = { syncs: () => syncsOf(config, context), endpoints, tables, columns: () => columnsOf(prefix) };
  const kinds = kind === 'subjects' ? SUBJECTS : [kind];
  const all = (await Promise.all(kinds.map((it) => readers[it]()))).flat();
  return all.filter(({ word }) => word.startsWith(prefix) && !typed.includes(word));
}

/** What can be described. */
const SUBJECTS = ['endpoints', 'tables', 'columns', 'syncs'] as const;

/** The names of the syncs; none if the config cannot be read, because errors would disturb typing. */
async function syncsOf(config: string | undefined, { env }: Context): Promise<CompletionWord[]> {
  const [{ configPath }, { syncNames }] = await Promise.all([
    import('../../config/find.ts'),
    import('../../config/sync-names.ts'),
  ]);
  const names = await syncNames(configPath(config, env, existsSync)).catch(() => []);
  return names.map((word) => ({ word, about: 'A sync of the config.' }));
}

async function endpoints(): Promise<CompletionWord[]> {
  const { catalog } = await import('../../service/catalog.ts');
  return catalog.map(({ name, about }) => ({ word: name, about }));
}

async function tables(): Promise<CompletionWord[]> {
  const { dictionary } = await import('../../warehouse/schema/dictionary.ts');
  return dictionary()
    .filter(({ area }) => area === 'analyst')
    .map(({ table, about }) => ({ word: table, about }));
}

/** The columns of the table before the dot, if there is one. */
async function columnsOf(prefix: string): Promise<CompletionWord[]> {
  const { relationNamed } = await import('../../lineage/relations.ts');
  const [table = '', ...rest] = prefix.split('.');
  const columns = rest.length > 0 ? relationNamed(table)?.columns : undefined;
  return (columns ?? []).map(({ name, about }) => ({ word: `${table}.${name}`, about }));
}
