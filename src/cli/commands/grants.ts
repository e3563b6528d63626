/** `sluice grants`: prints or applies the SQL of a read-only role for analysts. */
import { UsageError } from '../../errors.ts';
import type { Secret } from '../../config/values/secret.ts';
import type { Env } from '../../config/resolve.ts';
import { command, configOption, flag, text } from '../command.ts';
import { hasSchema, readConfig, withWarehouse } from '../open.ts';
import { showGenerated } from '../terminal/show.ts';

/** The environment variable with the masking key. */
const KEY = 'SLUICE_MASKING_KEY';

export const grants = command({
  about:
    'Print the statements that create a read-only role for analysts. The role can read every table and view for analysts, including those of later migrations. It can neither write nor read the internal tables. ' +
    'With --without-personal, the role reads only masked views, in a schema of their own whose name ends in _masked. ' +
    `They leave out personal data, JSON columns and texts of errors. Identifiers of people and of their posts are replaced by hashes with the key in ${KEY}, so that joins work. The masked rows are pseudonymous, not anonymous. ` +
    'Run the statements as the owner of the tables, or let --apply run them. ' +
    'The role cannot log in: grant it to roles that can. Needs no token.',
  options: {
    ...configOption,
    role: text('NAME', 'Name of the role (default: sluice_reader, or sluice_masked_reader). An existing role is kept.'),
    'without-personal': flag(
      `Let the role read masked views without personal data. With --apply, ${KEY} or ${KEY}_FILE must hold the key; before you run printed statements, set it in the session: set sluice.masking_key = '...'.`,
    ),
    apply: flag('Run the statements instead of only printing them.'),
  },
  positionals: {},
  examples: [
    { line: 'sluice grants > reader.sql', about: 'Save the statements for an administrator.' },
    { line: 'sluice grants --role analysts --apply', about: 'Create the role.' },
    { line: 'sluice grants --without-personal --apply', about: 'Create a role that reads no personal data.' },
  ],
  run: async (args, context) => {
    const { config: flag, apply, 'without-personal': isMasked } = args;
    const role = args.role ?? (isMasked ? 'sluice_masked_reader' : 'sluice_reader');
    const config = await readConfig(context, flag);
    const [{ applyGrants, grantStatements, maskedGrantStatements, SHORTEST_KEY }, { operationsSchema }] =
      await Promise.all([import('../../warehouse/migrate/grants.ts'), import('../../warehouse/sql/identifiers.ts')]);
    const { schema } = config.warehouse;
    const key = isMasked && apply ? await maskingKey(context.env, SHORTEST_KEY) : undefined;
    if (key) context.redactor.add(key.reveal());
    const print = isMasked ? maskedGrantStatements : grantStatements;
    const statements = apply
      ? await withWarehouse(context, config, async (warehouse) => {
          if (warehouse.kind === 'postgres' && !(await hasSchema(warehouse)))
            throw new UsageError('The warehouse is empty, so there is nothing to grant.', {
              next: 'Run sluice migrate first.',
            });
          return applyGrants(warehouse, role, key);
        })
      : print({ schema, ops: operationsSchema(schema) }, role);
    showGenerated(context, 'grants/1', { role, applied: apply, statements }, () =>
      statements.map((it) => `${it};\n`).join(''),
    );
    return 0;
  },
});

/** The masking key of the environment. Throws a UsageError if it is missing or too short. */
async function maskingKey(env: Env, shortest: number): Promise<Secret> {
  const [{ readVariable }, { Secret: SecretValue }] = await Promise.all([
    import('../../config/resolve.ts'),
    import('../../config/values/secret.ts'),
  ]);
  const read = await readVariable(KEY, env);
  const key = 'problem' in read ? '' : (read.value ?? '');
  if (key.length >= shortest) return new SecretValue(key);
  const found = key === '' ? `${KEY} is not set` : `${KEY} has ${key.length} of at least ${shortest} characters`;
  throw new UsageError(`${'problem' in read ? read.problem : found}.`, {
    next: `Set ${KEY}, or ${KEY}_FILE to a file with the key. Keep the key: another one changes all hashes. To create one: openssl rand -hex 32`,
  });
}
