/** `sluice describe`: shows what feeds what. */
import { existsSync } from 'node:fs';
import { EXIT } from '../../../errors.ts';
import type { Config } from '../../../config/definition.ts';
import type { Description } from '../../../lineage/describe.ts';
import { command, configOption } from '../../command.ts';
import type { Context } from '../../context.ts';
import { readConfig } from '../../open.ts';
import { showGenerated } from '../../terminal/show.ts';

export const describe = command({
  about:
    'Show what feeds what, from declarations alone: the places in the answers of endpoints that feed a table or column, the views that read it, and the syncs of the config that feed or read it. For a column of a view, it shows what feeds the view. ' +
    'A path such as [].author.urn is a field of each item of an answer. ' +
    'Needs neither a token nor the warehouse. Without a config, the syncs are left out.',
  options: configOption,
  positionals: {
    name: {
      takes: 'one',
      completes: 'subjects',
      about:
        'An endpoint, a table or view, a column as TABLE.COLUMN, or a sync of the config. sync:NAME is a sync that has the name of a table.',
    },
  },
  examples: [
    { line: 'sluice describe pronet_users', about: 'Show what feeds a table, and what reads it.' },
    { line: 'sluice describe pronet_posts.author_urn_value', about: 'Show where the values of a column come from.' },
    { line: 'sluice describe pronet.post.reposts', about: 'Show the tables, views and syncs of an endpoint.' },
    { line: 'sluice describe schools', about: 'Show the tables and syncs that a sync depends on.' },
  ],
  run: async ({ name, config: flag }, context) => {
    const [{ findSubject }, { describeSubject }, config] = await Promise.all([
      import('../../../lineage/subject.ts'),
      import('../../../lineage/describe.ts'),
      syncsAt(context, flag),
    ]);
    const found = describeSubject(findSubject(name, config.syncs ?? []), config.syncs);
    if (found.kind !== 'sync' && config.syncs?.some((it) => it.name === name) === true)
      context.log.info(`a sync has this name too: sluice describe sync:${name}`);
    const result: DescribeResult = { ...found, config: config.file, note: config.note };
    const { descriptionText } = await import('./description-text.ts');
    showGenerated(context, 'describe/1', result, () => descriptionText(result, context.out));
    return EXIT.complete;
  },
});

export interface DescribeResult extends Description {
  /** The config of the syncs; null if there is none. */
  readonly config: string | null;
  /** Why there are no syncs; null if there are. */
  readonly note: string | null;
}

interface FoundSyncs {
  readonly file: string | null;
  readonly syncs: Config['syncs'] | undefined;
  readonly note: string | null;
}

/** The syncs of the config; none if there is no config and none is named, or if it has no syncs. */
async function syncsAt(context: Context, flag: string | undefined): Promise<FoundSyncs> {
  const [{ configPath }, { syncNames }] = await Promise.all([
    import('../../../config/find.ts'),
    import('../../../config/sync-names.ts'),
  ]);
  const path = configPath(flag, context.env, existsSync);
  const isNamed = flag !== undefined || (context.env['SLUICE_CONFIG'] ?? '') !== '';
  if (!isNamed && !existsSync(path)) return { file: null, syncs: undefined, note: `there is no config (${path})` };
  if (existsSync(path) && (await syncNames(path)).length === 0)
    return { file: path, syncs: undefined, note: `${path} has no syncs` };
  const { file, syncs } = await readConfig(context, flag, []);
  return { file, syncs, note: null };
}
