/** `sluice migrate`: updates the schema of the warehouse, reverts its last migration, or shows its status. */
import { EXIT } from '../../errors.ts';
import type { MigrationStatus } from '../../warehouse/migrate/migrate.ts';
import { command, configOption } from '../command.ts';
import { readConfig, withWarehouse } from '../open.ts';
import { table } from '../terminal/print.ts';
import { show } from '../terminal/show.ts';

export const migrate = command({
  about:
    'Migrate the schema of the warehouse, or show its status. Concurrent migrations wait for each other. Needs no token.\n\n' +
    '- up (the default): apply pending migrations.\n' +
    '- down: revert the last migration, unless rows would be lost.\n' +
    '- status: show which migrations are applied. The exit code is 8 if the schema is older or newer than this version.',
  options: configOption,
  positionals: { action: { takes: 'optional', choices: ['up', 'down', 'status'], about: 'The action.' } },
  examples: [
    { line: 'sluice migrate', about: 'Apply pending migrations.' },
    { line: 'sluice migrate status', about: 'Show which migrations are applied.' },
  ],
  run: async ({ action = 'up', config: flag }, context) => {
    const config = await readConfig(context, flag);
    const backend = await import('../../warehouse/migrate/migrate.ts');
    return withWarehouse(context, config, async (warehouse) => {
      if (action === 'status') {
        const status = await backend.migrationStatus(warehouse);
        show(
          context,
          'migrate-status/1',
          status,
          () => statusText(status) + table(COLUMNS, rowsOf(status), context.out),
        );
        return status.state === 'older' || status.state === 'newer' ? EXIT.schema : EXIT.complete;
      }
      const done = await backend.migrate(warehouse, action === 'down' ? 'down' : 'up');
      const { unfilledColumns } = await import('../../warehouse/migrate/changed-columns.ts');
      const unfilled = action === 'up' ? await unfilledColumns(warehouse) : [];
      const next = unfilled.length === 0 ? '' : `next: sluice replay, or the next sync, fills ${unfilled.join(', ')}\n`;
      show(
        context,
        'migrate/1',
        { done, ...(unfilled.length > 0 && { unfilled }) },
        () => (done.length === 0 ? (NOTHING[action] ?? '') : `${VERBS[action] ?? ''} ${done.join(', ')}\n`) + next,
      );
      return EXIT.complete;
    });
  },
});

const NOTHING: Readonly<Record<string, string>> = {
  up: 'no migration was pending; views and comments are current\n',
  down: 'no migration to revert\n',
};
const VERBS: Readonly<Record<string, string>> = { up: 'applied', down: 'reverted' };
const COLUMNS = [{ name: 'migration' }, { name: 'applied' }];

const rowsOf = ({ steps, unknown }: MigrationStatus): unknown[][] => [
  ...steps.map(({ name, appliedAt }) => [name, appliedAt ?? 'pending']),
  ...unknown.map((name) => [name, 'unknown to this version']),
];

const TEXTS: Readonly<Record<MigrationStatus['state'], string>> = {
  empty: 'The warehouse is empty; the first sync creates the schema.\n',
  older: 'The schema is older than this version: run sluice migrate.\n',
  current: 'The schema is current.\n',
  newer: 'The schema is newer than this version: update Sluice.\n',
};
const statusText = ({ state }: MigrationStatus): string => TEXTS[state];
