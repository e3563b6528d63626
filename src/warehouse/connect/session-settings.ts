/**
 * The session settings that statements and parsers require. They override the settings of the role and the database.
 */
import { UsageError } from '../../errors.ts';

/** Settings that poolers such as PgBouncer keep for each client, so that they work through a pooler. */
export const POOLER_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, YMD',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
};

/** Settings that the values of rows and the texts of definitions depend on. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  ...POOLER_SETTINGS,
  IntervalStyle: 'postgres',
  // Array literals contain nulls.
  array_nulls: 'on',
  bytea_output: 'hex',
  // Fewer digits would round coordinates, and each load would treat the row as changed.
  extra_float_digits: '1',
  // Definitions of views and indexes are compared as text.
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
};

/** Sent when a connection starts, so that they override the settings of the role. */
export const STARTUP_SETTINGS: Readonly<Record<string, string>> = {
  ...SESSION_SETTINGS,
  // A server that compiles the statements of `costs` needs seconds for it, and gains less by it.
  jit: 'off',
};

/** Reads the current settings that the server knows, one row for each. `pg_settings` would compute all others too. */
export const SETTINGS_QUERY = `select name, setting
  from unnest($1::text[]) as name, current_setting(name, true) as setting where setting is not null`;

/** The parameter of `SETTINGS_QUERY`: the settings that values depend on, and others whose existence matters. */
export const settingNames = (...others: string[]): string[] => [
  ...Object.keys(SESSION_SETTINGS).map((name) => name.toLowerCase()),
  ...others,
];

/** Throws a UsageError if a setting does not have the required value, because a pooler ignored or refused it. */
export function assertSettings(rows: readonly { readonly name: string; readonly setting: string }[]): void {
  for (const [name, required] of Object.entries(SESSION_SETTINGS)) {
    const found = rows.find((row) => row.name.toLowerCase() === name.toLowerCase())?.setting;
    if (found === undefined || isSame(found, required)) continue;
    throw new UsageError(`The session has ${name} = ${found}; Sluice needs ${required}.`, {
      next: `A pooler prevents Sluice from setting it: run ALTER ROLE … SET ${name} TO '${required}', or connect without the pooler.`,
    });
  }
}

/** True if both mean the same. The order of day and month in DateStyle affects only input, and all input is ISO. */
const isSame = (found: string, required: string): boolean => firstOf(found) === firstOf(required);
const firstOf = (setting: string): string => (setting.split(',')[0] ?? '').toLowerCase();
