/** The session settings that statements and parsers rely on, whatever a role or a database has set. */
import { UsageError } from '../../errors.ts';

/** Poolers such as PgBouncer keep these for each client, so they can be given through one. */
export const POOLER_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, YMD',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
};

/** Given when a connection starts, so that they go over the settings of the role. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  ...POOLER_SETTINGS,
  IntervalStyle: 'postgres',
  // Array literals carry nulls.
  array_nulls: 'on',
  bytea_output: 'hex',
  // Fewer digits would round coordinates, and each load would take the row for changed.
  extra_float_digits: '1',
  // Definitions of views and indexes are compared as text.
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
};

/** Reads the settings as a server has them, one row each. */
export const SETTINGS_QUERY = 'select name, setting from pg_settings where lower(name) = any($1)';

/** The parameter of `SETTINGS_QUERY`. */
export const settingNames = (): string[] => Object.keys(SESSION_SETTINGS).map((name) => name.toLowerCase());

/** Throws a UsageError that names a setting which is not as required: a pooler ignored or refused it. */
export function assertSettings(rows: readonly { readonly name: string; readonly setting: string }[]): void {
  for (const [name, required] of Object.entries(SESSION_SETTINGS)) {
    const found = rows.find((row) => row.name.toLowerCase() === name.toLowerCase())?.setting;
    if (found === undefined || isSame(found, required)) continue;
    throw new UsageError(`The session has ${name} = ${found}; Sluice needs ${required}.`, {
      next: `A pooler keeps Sluice from setting it: run ALTER ROLE … SET ${name} TO '${required}', or connect without the pooler.`,
    });
  }
}

/** The order of day and month in DateStyle matters for input alone, and all input is ISO. */
const isSame = (found: string, required: string): boolean => firstOf(found) === firstOf(required);
const firstOf = (setting: string): string => (setting.split(',')[0] ?? '').toLowerCase();
