/**
 * `sluice migrate`: updates the schema of the warehouse, reverts its last migration, or shows its status; with `--from`, copies
 * an embedded warehouse into it.
 */
import { resolve } from 'node:path';
import type { Config } from '../../config/definition.ts';
import { Secret } from '../../config/values/secret.ts';
import { EXIT, UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { CopiedRows } from '../../warehouse/migrate/copy-warehouse.ts';
import type { MigrationStatus } from '../../warehouse/migrate/migrate.ts';
import { command, configOption, flagConflict, text } from '../command.ts';
import type { Context } from '../context.ts';
import { hasEmbedded, hasSchema, readConfig, withWarehouse, withWarehouseToRead } from '../open.ts';
import { table, withNoun } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';

export const migrate = command({
  about:
    'Migrate the schema of the warehouse, or show its status. Concurrent migrations wait for each other. Needs no token.\n\n' +
    '- up (the default): apply pending migrations.\n' +
    '- down: revert the last migration, unless rows would be lost.\n' +
    '- status: show which migrations are applied. The exit code is 8 if the schema is older or newer than this version.',
  options: {
    ...configOption,
    from: text(
      'FOLDER',
      'Copy everything of the embedded warehouse in this folder into the warehouse, which must be empty and on a server. Then nothing that was paid for is bought again. The folder stays as it is.',
    ),
  },
  positionals: { action: { takes: 'optional', choices: ['up', 'down', 'status'], about: 'The action.' } },
  examples: [
    { line: 'sluice migrate', about: 'Apply pending migrations.' },
    { line: 'sluice migrate status', about: 'Show which migrations are applied.' },
    { line: 'sluice migrate --from .sluice', about: 'Move from the embedded warehouse to the server in DATABASE_URL.' },
  ],
  run: async ({ action = 'up', config: flag, from }, context) => {
    if (from !== undefined && action !== 'up') throw flagConflict('migrate', ['--from', action]);
    const config = await readConfig(context, flag);
    if (action === 'status') return showStatus(context, config);
    const direction = action === 'down' ? 'down' : 'up';
    return withWarehouse(context, config, async (warehouse) => {
      if (from !== undefined) refuseCopy(context, from, warehouse);
      const { migrate: migrateWarehouse } = await import('../../warehouse/migrate/migrate.ts');
      const done = await migrateWarehouse(warehouse, direction);
      const copied = from === undefined ? undefined : await copyFrom(context, from, warehouse);
      const { unfilledColumns } = await import('../../warehouse/migrate/changed-columns.ts');
      const unfilled = direction === 'up' ? await unfilledColumns(warehouse) : [];
      const result = { done, ...(unfilled.length > 0 && { unfilled }), ...(copied && { copied }) };
      show(context, 'migrate/1', result, () =>
        [
          done.length === 0 ? NOTHING[direction] : `${VERBS[direction]} ${done.join(', ')}\n`,
          copied ? copiedText(copied) : '',
          unfilled.length === 0 ? '' : `next: sluice replay, or the next sync, fills ${unfilled.join(', ')}\n`,
        ].join(''),
      );
      return EXIT.complete;
    });
  },
});

const NOTHING = {
  up: 'no migration was pending; views and comments are current\n',
  down: 'no migration to revert\n',
};
const VERBS = { up: 'applied', down: 'reverted' };

/** Throws before anything is created, if the folder has no embedded warehouse or the target is one. */
function refuseCopy({ cwd }: Context, folder: string, { kind }: Warehouse): void {
  if (!hasEmbedded(resolve(cwd, folder)))
    throw new UsageError(`migrate: there is no embedded warehouse in ${resolve(cwd, folder)}`, {
      next: 'Name the folder of warehouse.url, such as .sluice, relative to the working directory.',
    });
  if (kind === 'embedded')
    throw new UsageError('migrate: --from copies to a server, and the warehouse of the config is embedded', {
      next: 'Set DATABASE_URL to a postgres:// address. To copy an embedded warehouse, copy its folder while nothing uses it.',
    });
}

/** Copies the embedded warehouse in the folder. No other process may use it meanwhile. */
async function copyFrom(context: Context, folder: string, target: Warehouse): Promise<CopiedRows> {
  const [{ openWarehouse }, { copyWarehouse }] = await Promise.all([
    import('../../warehouse/connect/connect.ts'),
    import('../../warehouse/migrate/copy-warehouse.ts'),
  ]);
  const url = new Secret(`embedded:${resolve(context.cwd, folder)}`);
  const source = await openWarehouse({ url, schema: target.schema }, { ...context, command: 'sluice migrate' });
  try {
    if (!(await hasSchema(source)))
      throw new UsageError(`migrate: the embedded warehouse in ${folder} has no schema ${target.schema}`, {
        next: 'Set warehouse.schema to the schema that it has.',
      });
    const onTable = (name: string, position: number, count: number): void => {
      if (context.progressStyle === 'live') context.status.show(`copying ${name}, ${position} of ${count}`);
    };
    return await copyWarehouse(source, target, { signal: context.signal, onTable });
  } finally {
    await source.close();
  }
}

const copiedText = ({ answers, rows }: CopiedRows): string =>
  `copied ${withNoun(rows, 'row')} of all tables, with ${withNoun(answers, 'answer')}\n` +
  'next: use only this warehouse from now on; delete the old folder when you no longer need it\n';

async function showStatus(context: Context, config: Config): Promise<number> {
  const { migrationStatus } = await import('../../warehouse/migrate/migrate.ts');
  const status = await withWarehouseToRead(context, config, migrationStatus);
  show(
    context,
    'migrate-status/1',
    status,
    () => `${TEXTS[status.state]}\n${table(COLUMNS, rowsOf(status), context.out)}`,
  );
  return status.state === 'older' || status.state === 'newer' ? EXIT.schema : EXIT.complete;
}

const COLUMNS = [{ name: 'migration' }, { name: 'applied' }];

const rowsOf = ({ steps, unknown }: MigrationStatus): unknown[][] => [
  ...steps.map(({ name, appliedAt }) => [name, appliedAt ?? 'pending']),
  ...unknown.map((name) => [name, 'unknown to this version']),
];

const TEXTS: Readonly<Record<MigrationStatus['state'], string>> = {
  empty: 'The warehouse is empty; the first sync creates the schema.',
  older: 'The schema is older than this version: run sluice migrate.',
  current: 'The schema is current.',
  newer: 'The schema is newer than this version: update Sluice.',
};
