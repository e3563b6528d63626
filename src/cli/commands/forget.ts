/** `sluice forget`: removes an entity from all data that Sluice stores. */
import type { Config } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { ForgetOptions, ForgetSummary } from '../../flow/erasure/forget.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption, flag } from '../command.ts';
import type { Context } from '../context.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { withNoun, table as laidOut } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { formerSpoolFolder, spoolFolder } from '../spool-folder.ts';
import { withAnswerProgress } from '../terminal/with-progress.ts';
import { withRetryable } from '../exit-codes.ts';

export const forget = command({
  about:
    'Remove the entity of one row, under all its names, from tables, history, ledger, quarantine, stored answers and the spool. A receipt without the data remains. ' +
    'Stored answers are rewritten without the entity, so no replay restores it. Salted digests recognize it later: answers are loaded without it, and inputs that name it are not requested. ' +
    'Without --yes, the command shows what it would remove, and asks for confirmation at a terminal. It does not reach backups, copies in BI tools and logs of the database. ' +
    'The exit code is 2 if the key matches nothing, and 7 while a sync runs. Needs no token.',
  options: {
    ...configOption,
    yes: flag('Remove without asking.'),
    'allow-again': flag('Let later answers load it again; removes an earlier ban on it.'),
  },
  positionals: {
    table: { takes: 'one', about: 'A table with a row of the entity, such as pronet_users.' },
    key: { takes: 'many', about: 'The key of the row: the values of the key columns, in their order.' },
  },
  examples: [
    {
      line: 'sluice forget pronet_users fsd_profile ACoAAB1',
      about: 'Show what would be removed, and ask at a terminal.',
    },
    { line: 'sluice forget photoshare_users 2000007919 --yes', about: 'Remove a user.' },
  ],
  run: async ({ table, key, yes, 'allow-again': mayReturn, config: flag }, context) => {
    const { targetOf } = await import('../../flow/erasure/forget.ts');
    targetOf(table, key);
    const config = await readConfig(context, flag);
    return withWarehouse(context, config, async (warehouse) => {
      if (!(await hasSchema(warehouse)))
        throw new UsageError('forget: the warehouse is empty, so it holds no data about any entity.', {
          next: 'Name the warehouse with DATABASE_URL or warehouse.url.',
        });
      const options = { table, key, mayReturn };
      if (yes) return finish(context, await forgotten(context, config, warehouse, { ...options, dryRun: false }));
      const preview = await forgotten(context, config, warehouse, { ...options, dryRun: true });
      const asks = context.json ? undefined : context.ask;
      if (!asks) return finish(context, preview);
      context.err.write(forgetText(preview, context));
      const question = preview.found ? 'Remove all of it?' : 'Keep later answers from loading it?';
      if ((await asks(`${question} Type yes: `)) !== 'yes') {
        context.err.write('nothing was removed\n');
        return preview.exitCode;
      }
      return finish(context, await forgotten(context, config, warehouse, { ...options, dryRun: false }));
    });
  },
});

async function forgotten(
  context: Context,
  config: Config,
  warehouse: Warehouse,
  options: ForgetOptions,
): Promise<ForgetSummary> {
  const [{ forget: erase }, { openSpool }] = await Promise.all([
    import('../../flow/erasure/forget.ts'),
    import('../../recovery/spool/files.ts'),
  ]);
  const spool = openSpool({ folder: spoolFolder(context, config) });
  const formerSpools = [formerSpoolFolder(context)];
  return withAnswerProgress(context, warehouse, (effects) =>
    erase(warehouse, options, { ...effects, spool, formerSpools }, context.signal),
  );
}

function finish(context: Context, summary: ForgetSummary): number {
  show(context, 'forget/1', withRetryable(summary), () => forgetText(summary, context));
  return summary.exitCode;
}

function forgetText(it: ForgetSummary, { out }: Context): string {
  const were = (count: number): string => (it.dryRun ? 'would be' : count === 1 ? 'was' : 'were');
  const lines = it.found
    ? [
        laidOut(
          [{ name: 'table' }, { name: it.dryRun ? 'rows to remove or change' : 'rows removed or changed' }],
          Object.entries(it.rows),
          out,
        ),
        `${withNoun(it.answers, 'stored answer')} ${were(it.answers)} rewritten, ${it.bodies} of them erased completely; ${withNoun(it.requests, 'request')} ${were(it.requests)} given a pseudonym; ${withNoun(it.spooled, 'answer')} in the spool\n`,
      ]
    : [
        it.wasForgotten
          ? 'nothing is left of it; it was removed before\n'
          : `nothing has this key: no row of ${it.table}, no stored answer, no request. Check the key with sluice query\n`,
      ];
  const missing = it.missingSpools.map(
    ({ folder, host }) =>
      `the spool ${folder} on ${host} can’t be found from here and may hold answers: run the command there too, or delete the folder\n`,
  );
  const later = it.comesAgain ? 'later answers can load it again' : 'later answers will not load it again';
  const end = it.dryRun
    ? `nothing was removed; add --yes to ${it.found ? 'remove it' : 'keep later answers from loading it'}\n`
    : `receipt ${it.receipt}: ${later}. Backups, extracts of BI tools and the write-ahead log contain it until they expire\n`;
  return [...lines, ...missing, end].join('');
}
