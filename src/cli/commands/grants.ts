/** `sluice grants`: a role for analysts that reads and nothing else, as SQL or applied. */
import { UsageError } from '../../errors.ts';
import { command, configOption } from '../command.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { show } from '../terminal/show.ts';

export const grants = command({
  about:
    'Prints the statements that make a role which reads every table and view for analysts, those of later migrations too, and which can neither write nor see the machinery. ' +
    'Run them as the role that migrates. With --apply they are run on the warehouse’s server, for whoever owns its tables. ' +
    'The role can’t log in: grant it to those who can. Needs no token.',
  options: {
    ...configOption,
    role: { type: 'text', value: 'NAME', about: 'Name of the role; else sluice_reader. One that is there is kept.' },
    apply: { type: 'flag', about: 'Run the statements instead of only printing them.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice grants > reader.sql', about: 'The statements, for an administrator.' },
    { line: 'sluice grants --role analysts --apply', about: 'Make the role.' },
  ],
  run: async ({ config: flag, role = 'sluice_reader', apply }, context) => {
    const config = await readConfig(context, flag);
    const [{ applyGrants, grantStatements }, { operationsSchema }] = await Promise.all([
      import('../../warehouse/migrate/grants.ts'),
      import('../../warehouse/sql/identifiers.ts'),
    ]);
    const { schema } = config.warehouse;
    const statements = apply
      ? await withWarehouse(context, config, async (warehouse) => {
          if (warehouse.kind === 'postgres' && !(await hasSchema(warehouse)))
            throw new UsageError('The warehouse is empty, so there is nothing to grant.', {
              next: 'Run sluice migrate first.',
            });
          return applyGrants(warehouse, role);
        })
      : grantStatements({ schema, ops: operationsSchema(schema) }, role);
    show(context, { role, applied: apply, statements }, () => statements.map((it) => `${it};\n`).join(''));
    return 0;
  },
});
