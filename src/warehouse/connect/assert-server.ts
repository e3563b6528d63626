/** Refuses a server on which the program cannot work: its version, its encoding, and whether it accepts writes. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { TransientError, UsageError } from '../../errors.ts';

/** The oldest Postgres version that supports all statements. */
const OLDEST_SERVER = 14;

/**
 * Returns true if the server accepts writes. Throws a UsageError for a server that a person must change, also one without writes
 * unless the caller only reads, and a TransientError for a standby.
 */
export async function assertServer(db: QueryExecutorProvider, isReadOnly: boolean): Promise<boolean> {
  const { rows } = await sql<{ version: number; read_only: string; encoding: string }>`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('transaction_read_only') as read_only,
      current_setting('server_encoding') as encoding`.execute(db);
  const { version = 0, read_only: readOnly, encoding } = rows[0] ?? {};
  if (version < OLDEST_SERVER) {
    throw new UsageError(`The database is Postgres ${version}; Sluice needs ${OLDEST_SERVER} or newer.`, {
      next: 'Upgrade the server, or use another.',
    });
  }
  if (encoding !== 'UTF8') {
    throw new UsageError(`The database’s encoding is ${encoding}, which can’t store every text.`, {
      next: 'Create one with encoding UTF8 (createdb --encoding UTF8 --template template0 NAME).',
    });
  }
  if (readOnly === 'on') await assertWritable(db, isReadOnly);
  return readOnly !== 'on';
}

/** Throws if the server is a standby, or if the caller writes where a setting forbids it. */
async function assertWritable(db: QueryExecutorProvider, isReadOnly: boolean): Promise<void> {
  const { rows } = await sql<{ standby: boolean; role: string; database: string; source: string }>`
    select pg_is_in_recovery() as standby, quote_ident(session_user) as role,
      quote_ident(current_database()) as database, source
    from pg_settings where name = ${SETTING}`.execute(db);
  const [found] = rows;
  if (found === undefined || found.standby) {
    throw new TransientError('The database accepts no writes: it is a standby.', {
      next: 'Set DATABASE_URL to the primary, or try again after the failover.',
    });
  }
  if (isReadOnly) return;
  const reset = resetOf(found);
  // Some providers configure the server so for a while, for example while its disk is full.
  if (reset === undefined) {
    throw new TransientError(`The database accepts no writes: ${SETTING} is on in the configuration of the server.`, {
      next: 'Try again when the server accepts writes, or set the setting to off.',
    });
  }
  throw new UsageError(`The database accepts no writes from ${found.role}: ${SETTING} is on.`, {
    next: `${reset}, or set DATABASE_URL to a role that may write.`,
  });
}

const SETTING = 'default_transaction_read_only';

/** How to remove the setting, by where the server says that it comes from; undefined for its configuration. */
function resetOf({ source, role, database }: { source: string; role: string; database: string }): string | undefined {
  const altered: Readonly<Record<string, string>> = {
    user: `ROLE ${role}`,
    database: `DATABASE ${database}`,
    'database user': `ROLE ${role} IN DATABASE ${database}`,
    global: 'ROLE ALL',
  };
  const target = altered[source];
  if (target !== undefined) return `Run ALTER ${target} RESET ${SETTING}`;
  return source === 'client' ? `Remove ${SETTING} from the options in DATABASE_URL or PGOPTIONS` : undefined;
}
