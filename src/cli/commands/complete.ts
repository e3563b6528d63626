/** `sluice complete`: asked by the shells' scripts at each press of the tab key; quick, and silent about trouble. */
import { existsSync } from 'node:fs';
import { escapeControls } from '../../text/terminal-safe.ts';
import { command } from '../command.ts';
import type { CompletionWord, CompletionOffer } from '../completion/candidates.ts';
import type { Context } from '../context.ts';

export const complete = command({
  about:
    'For the scripts of sluice completion. Prints a line for each word that may come next, with a tab and its meaning, ' +
    'or :files or :folders where a path may. Of the config it reads only the names of the syncs, and it never tells an error.',
  options: {},
  positionals: { words: { takes: 'many', about: 'What stands after the program’s name; the last word may be empty.' } },
  examples: [{ line: 'sluice complete -- sync --max', about: 'What may come of a flag that is being typed.' }],
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

/** The names that were not said yet. */
async function namesFor({ names }: CompletionOffer, context: Context): Promise<CompletionWord[]> {
  if (!names) return [];
  const all = names.kind === 'syncs' ? await syncsOf(names.config, context) : await endpoints();
  return all.filter(({ word }) => word.startsWith(names.prefix) && !names.typed.includes(word));
}

/** A person who is typing is not to be told what is wrong with a file. */
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
