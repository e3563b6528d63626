/** `sluice forget`: removes an entity from everything that Sluice keeps. */
import type { Config } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { ForgetOptions, ForgetSummary } from '../../flow/erasure/forget.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { withNoun, table as laidOut } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';
import { spoolFolder } from '../spool-folder.ts';
import { withProgress } from '../terminal/with-progress.ts';

export const forget = command({
  about:
    'Takes one row’s entity out of tables, history, ledger, quarantine, stored answers and the spool, under all its names, and leaves a receipt without the data. ' +
    'Stored answers are rewritten without it, so that no replay brings it back; later answers and inputs that name it are told by salted digests and left out. ' +
    'Without --yes it tells what would be removed and, at a terminal, asks. Backups, copies in BI tools and the database’s own logs are not reached. ' +
    'A key that matches nothing ends with exit code 2. Refused with exit code 7 while a sync runs. Needs no token.',
  options: {
    ...configOption,
    yes: { type: 'flag', about: 'Remove without asking.' },
    'allow-again': {
      type: 'flag',
      about: 'Let later answers bring it again; lifts an earlier ban on it.',
    },
  },
  positionals: {
    table: { takes: 'one', about: 'The table that has a row of it, such as pronet_users.' },
    key: { takes: 'many', about: 'Its key: the values of the key’s columns, in their order.' },
  },
  examples: [
    { line: 'sluice forget pronet_users fsd_profile ACoAAB1', about: 'What would be removed of a person.' },
    { line: 'sluice forget photoshare_users 2000007919 --yes', about: 'Remove it.' },
  ],
  run: async ({ table, key, yes, 'allow-again': comesAgain, config: flag }, context) => {
    const { targetOf } = await import('../../flow/erasure/forget.ts');
    targetOf(table, key);
    const config = await readConfig(context, flag);
    return withWarehouse(context, config, async (warehouse) => {
      if (!(await hasSchema(warehouse)))
        throw new UsageError('forget: the warehouse is empty, so nothing is kept of anybody.', {
          next: 'Name the warehouse with DATABASE_URL or warehouse.url.',
        });
      const options = { table, key, comesAgain };
      if (yes) return told(context, await forgotten(context, config, warehouse, { ...options, dryRun: false }));
      const preview = await forgotten(context, config, warehouse, { ...options, dryRun: true });
      const asks = context.json ? undefined : context.ask;
      if (!asks) return told(context, preview);
      context.err.write(forgetText(preview, context));
      const question = preview.found ? 'Remove all of it?' : 'Keep later answers from bringing it?';
      if ((await asks(`${question} Type yes: `)) !== 'yes') {
        context.err.write('nothing was removed\n');
        return preview.exitCode;
      }
      return told(context, await forgotten(context, config, warehouse, { ...options, dryRun: false }));
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
  const { sleep, newId, signal } = context;
  const { now } = warehouse.clock;
  const spool = openSpool({ folder: spoolFolder(context, config) });
  return withProgress(context, ({ onProgress }) =>
    erase(
      warehouse,
      options,
      { now, sleep, newId, spool, onProgress: (done, total) => onProgress({ sync: 'answers', done, total }) },
      signal,
    ),
  );
}

function told(context: Context, summary: ForgetSummary): number {
  show(context, summary, () => forgetText(summary, context));
  return summary.exitCode;
}

function forgetText(it: ForgetSummary, { out }: Context): string {
  const does = it.dryRun ? 'would be' : 'were';
  const lines = it.found
    ? [
        laidOut(
          [{ name: 'table' }, { name: it.dryRun ? 'rows to go or change' : 'rows gone or changed' }],
          Object.entries(it.rows),
          out,
        ),
        `${withNoun(it.answers, 'stored answer')} ${does} rewritten, ${it.bodies} of them erased whole; ${withNoun(it.requests, 'request')} ${does} given a pseudonym; ${withNoun(it.spooled, 'answer')} in the spool\n`,
      ]
    : [
        it.wasForgotten
          ? 'nothing of it is left; it was forgotten before\n'
          : `nothing has this key: no row of ${it.table}, no stored answer, no request. Check the key with sluice query\n`,
      ];
  const later = it.comesAgain ? 'later answers may bring it again' : 'later answers will not bring it again';
  const end = it.dryRun
    ? `nothing was removed; add --yes to ${it.found ? 'remove it' : 'keep later answers from bringing it'}\n`
    : `receipt ${it.receipt}: ${later}. Backups, extracts of BI tools and the write-ahead log still hold it until they expire\n`;
  return [...lines, end].join('');
}
