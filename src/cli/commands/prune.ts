/** `sluice prune`: drops what is old and needed by nothing. */
import { UsageError } from '../../errors.ts';
import type { PruneSummary } from '../../flow/retention/prune.ts';
import { command, configOption } from '../command.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { withNoun, withThousands } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { withProgress } from '../terminal/with-progress.ts';

export const prune = command({
  about:
    'Takes away the bytes of stored answers that are older than the age, loaded, outside every max_age of the config, and without open entries in quarantine; their rows stay, and so do tables, costs and history. ' +
    'Also deletes old requests that were served from the vault or given up unsent, when a later one speaks for their question. ' +
    'What is pruned can’t be replayed, and replay --rebuild refuses from then on. Without --yes it only tells what would go. Runs beside syncs, in small steps. Needs no token.',
  options: {
    ...configOption,
    'older-than': { type: 'text', value: 'AGE', about: 'The age, such as 90d or 26w; at least 1d.' },
    quarantined: { type: 'flag', about: 'Also answers with open entries in quarantine, which can’t be retried then.' },
    yes: { type: 'flag', about: 'Drop it.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice prune --older-than 90d', about: 'What would go.' },
    { line: 'sluice prune --older-than 90d --yes', about: 'Let it go; for a monthly schedule.' },
  ],
  run: async ({ 'older-than': age, quarantined, yes, config: flag }, context) => {
    const olderThanMs = await ageOf(age);
    const config = await readConfig(context, flag);
    return withWarehouse(context, config, async (warehouse) => {
      if (!(await hasSchema(warehouse)))
        throw new UsageError('prune: the warehouse is empty, so nothing is kept there.', {
          next: 'Name the warehouse with DATABASE_URL or warehouse.url.',
        });
      const { prune: drop } = await import('../../flow/retention/prune.ts');
      const { sleep, random, signal } = context;
      const { now } = warehouse.clock;
      const summary = await withProgress(context, ({ onProgress }) =>
        drop(
          warehouse,
          config.syncs,
          { olderThanMs, quarantined, dryRun: !yes },
          { now, sleep, random, onProgress: (done, total) => onProgress({ sync: 'answers', done, total }) },
          signal,
        ),
      );
      show(context, summary, () => pruneText(summary));
      return summary.exitCode;
    });
  },
});

/** A younger answer may be of a run that is still under way. */
const LEAST_MS = 86_400_000;

async function ageOf(text: string | undefined): Promise<number> {
  const { duration } = await import('../../config/values/quantity.ts');
  const age = duration.safeParse(text ?? '');
  if (age.success && age.data >= LEAST_MS) return age.data;
  throw new UsageError(
    `prune: --older-than is ${text === undefined ? 'missing' : text}; allowed is an age of a day or more, such as 90d or 26w`,
    { next: 'Say how long answers are to be kept: sluice prune --older-than 90d.' },
  );
}

function pruneText({ dryRun, before, answers, bytes, requests }: PruneSummary): string {
  const does = dryRun ? 'would be' : 'were';
  const told =
    `${withNoun(answers, 'body', 'bodies')} of answers received before ${before} ${does} dropped: ${withThousands(Math.round(bytes / 1024))} KiB as they rest\n` +
    `${withNoun(requests, 'row')} of the ledger ${does} deleted\n`;
  return told + (dryRun ? 'nothing was dropped; add --yes to drop it\n' : '');
}
