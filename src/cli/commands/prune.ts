/** `sluice prune`: deletes old data that nothing needs. */
import { DAY_MS } from '../../day.ts';
import { UsageError } from '../../errors.ts';
import type { PruneSummary } from '../../flow/retention/prune.ts';
import { command, configOption, flag, text } from '../command.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { withNoun, withThousands } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { withAnswerProgress } from '../terminal/with-progress.ts';
import { withRetryable } from '../exit-codes.ts';

export const prune = command({
  about:
    'Delete the bytes of stored answers that are loaded, older than --older-than and every max_age of the config, without open entries in quarantine, and not used by a run that can be continued. Their rows remain, as do costs and history. ' +
    'Also delete old requests that were never sent, if a later request is the same.\n\n' +
    'Pruned answers cannot be replayed, and replay --rebuild is no longer possible. Without --yes, the command only shows what it would delete. It works in small steps, also while syncs run. Needs no token.',
  options: {
    ...configOption,
    'older-than': text('AGE', 'Minimum age of answers to prune, such as 90d or 26w (required; at least 1d).'),
    quarantined: flag('Also prune answers with open entries in quarantine, which then cannot be retried.'),
    yes: flag('Delete the data.'),
  },
  positionals: {},
  examples: [
    { line: 'sluice prune --older-than 90d', about: 'Show what would be deleted.' },
    { line: 'sluice prune --older-than 90d --yes', about: 'Delete it, for example on a monthly schedule.' },
  ],
  run: async ({ 'older-than': age, quarantined, yes, config: flag }, context) => {
    const olderThanMs = await ageOf(age);
    const config = await readConfig(context, flag);
    return withWarehouse(context, config, async (warehouse) => {
      if (!(await hasSchema(warehouse)))
        throw new UsageError('prune: the warehouse is empty, so there is nothing to prune.', {
          next: 'Name the warehouse with DATABASE_URL or warehouse.url.',
        });
      const { prune: drop } = await import('../../flow/retention/prune.ts');
      const options = { olderThanMs, quarantined, dryRun: !yes };
      const summary = await withAnswerProgress(context, warehouse, (effects) =>
        drop(warehouse, config.syncs, options, effects, context.signal),
      );
      show(context, 'prune/1', withRetryable(summary), () => pruneText(summary));
      return summary.exitCode;
    });
  },
});

/** The minimum age: a younger answer may belong to a run in progress. */
const LEAST_MS = DAY_MS;

async function ageOf(text: string | undefined): Promise<number> {
  const { duration } = await import('../../config/values/quantity.ts');
  const age = duration.safeParse(text ?? '');
  if (age.success && age.data >= LEAST_MS) return age.data;
  throw new UsageError(
    `prune: --older-than is ${text === undefined ? 'missing' : text}; allowed is an age of a day or more, such as 90d or 26w`,
    { next: 'Set how long answers are kept, for example: sluice prune --older-than 90d.' },
  );
}

function pruneText({ dryRun, before, answers, bytes, requests }: PruneSummary): string {
  const does = dryRun ? 'would be' : 'were';
  const counts =
    `${withNoun(answers, 'body', 'bodies')} of answers received before ${before} ${does} deleted: ${withThousands(Math.round(bytes / 1024))} KiB as stored\n` +
    `${withNoun(requests, 'row')} of the ledger ${does} deleted\n`;
  return counts + (dryRun ? 'nothing was deleted; add --yes to delete it\n' : '');
}
