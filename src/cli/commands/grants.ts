/** `sluice grants`: prints or applies the SQL of a read-only role for analysts. */
import { UsageError } from '../../errors.ts';
import { command, configOption } from '../command.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { show } from '../terminal/show.ts';

export const grants = command({
  about:
    'Print the statements that create a read-only role for analysts. The role can read every table and view for analysts, including those of later migrations. It can neither write nor read the internal tables. ' +
    'Run the statements as the role that migrates. With --apply, the command runs them on the server of the warehouse, for the owner of its tables. ' +
    'The role cannot log in: grant it to roles that can. Needs no token.',
  options: {
    ...configOption,
    role: {
      type: 'text',
      value: 'NAME',
      about: 'Name of the role (default: sluice_reader). An existing role is kept.',
    },
    apply: { type: 'flag', about: 'Run the statements instead of only printing them.' },
  },
  positionals: {},
  examples: [
    { line: 'sluice grants > reader.sql', about: 'Save the statements for an administrator.' },
    { line: 'sluice grants --role analysts --apply', about: 'Create the role.' },
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
