/** Translates errors of database connections into errors that the user can act on. */
import { CredentialError, SluiceError, TransientError, UsageError } from '../../errors.ts';
import { errorCode, SQL_STATE } from './sql-states.ts';

/** The location of the database for messages, without a password. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** The cause of an error as a kind of user error, its message and the next step. */
interface Cause {
  readonly Kind: typeof UsageError | typeof CredentialError | typeof TransientError;
  readonly message: string;
  readonly next: string;
}
const wrong = (message: string, next: string): Cause => ({ Kind: UsageError, message, next });
const refused = (message: string, next: string): Cause => ({ Kind: CredentialError, message, next });
const transient = (message: string, next: string): Cause => ({ Kind: TransientError, message, next });

/** The causes that several errors have. */
const lost = (place: ServerAddress): Cause =>
  transient(`The connection to ${reachable(place)} was cut`, 'Try again; if it persists, check the log of the server.');
const unreachable = (place: ServerAddress, found: string): Cause =>
  transient(`${reachable(place)} ${found}`, 'Check for a firewall between the machines, then try again.');

/** True if a login was refused because the role does not exist or may not log in. */
export const isAboutRole = (error: unknown): boolean =>
  errorCode(error) === SQL_STATE.invalidAuthorization &&
  (error as { readonly routine?: unknown }).routine === 'InitializeSessionUserId';

/** The message of an error, or that of the first of several wrapped errors. */
function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return errorText(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

const reachable = ({ host, port }: ServerAddress): string => (host.startsWith('/') ? host : `${host}:${port}`);

const BY_CODE: Readonly<Record<string, (place: ServerAddress) => Cause>> = {
  [SQL_STATE.invalidPassword]: (it) =>
    refused(
      `The database refused the password of ${it.user}`,
      'Correct the user and password in DATABASE_URL; encode characters such as @ / ? # as %40 %2F %3F %23.',
    ),
  [SQL_STATE.invalidAuthorization]: (it) =>
    // pg_hba.conf has no line that allows it.
    refused(
      `The database refuses ${it.user} from this machine`,
      'Allow the user, database and kind of connection in the server’s pg_hba.conf, or change sslmode in DATABASE_URL.',
    ),
  [SQL_STATE.invalidCatalogName]: (it) =>
    wrong(
      `The server has no database ${it.database}`,
      `Create it (createdb ${it.database}), or correct the name in DATABASE_URL.`,
    ),
  [SQL_STATE.insufficientPrivilege]: (it) =>
    wrong(
      `The user ${it.user} lacks a right`,
      'Grant it CREATE and CONNECT on the database, or create both schemas and make it their owner.',
    ),
  [SQL_STATE.tooManyConnections]: () =>
    transient(
      'The database has no connection left',
      'Try again when other sessions have ended, or raise the limit: max_connections, or CONNECTION LIMIT of the role or database.',
    ),
  [SQL_STATE.cannotConnectNow]: () =>
    transient('The database is starting up or shutting down', 'Try again in a moment.'),
  ECONNREFUSED: (it) =>
    transient(
      `Nothing answers at ${reachable(it)}`,
      'Start the database, or correct host and port in DATABASE_URL; unset it for the embedded warehouse.',
    ),
  ECONNRESET: lost,
  ENOENT: (it) =>
    transient(
      `There is no database socket in ${it.host}`,
      'Start the database, or correct the folder in DATABASE_URL.',
    ),
  ENOTFOUND: (it) => wrong(`The host ${it.host} does not exist`, 'Correct the host in DATABASE_URL.'),
  EAI_AGAIN: (it) =>
    transient(
      `The host name ${it.host} can’t be resolved now`,
      'Try again; if it persists, check the DNS settings of this machine.',
    ),
  ETIMEDOUT: (it) => unreachable(it, 'does not answer'),
  EHOSTUNREACH: (it) => transient(`${reachable(it)} can’t be reached`, 'Check the network, then try again.'),
};

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
]);

/** A pooler reports refusals, its own and those of the server behind it, with the code of a protocol violation. */
const POOLER_REFUSALS: readonly (readonly [text: RegExp, code: string])[] = [
  [
    /authentication failed|^no such user|^role ".*" (?:does not exist|is not permitted to log in)/,
    SQL_STATE.invalidPassword,
  ],
  [/^no such database|^database ".*" does not exist/, SQL_STATE.invalidCatalogName],
];

function codeOf(error: unknown, message: string): string | undefined {
  const code = errorCode(error);
  if (code !== SQL_STATE.protocolViolation) return code;
  return POOLER_REFUSALS.find(([text]) => text.test(message))?.[1] ?? code;
}

function causeOf(error: unknown, place: ServerAddress): Cause | undefined {
  const message = errorText(error);
  const code = codeOf(error, message);
  if (code !== undefined && UNTRUSTED.has(code)) {
    return wrong(
      `The certificate of ${reachable(place)} is not trusted (${message})`,
      'Set sslrootcert=FILE to its certificate authority, or use sslmode=require to trust any.',
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return wrong(
      `The certificate of ${reachable(place)} is for another name`,
      'Use the name in the certificate, or sslmode=verify-ca to check only the certificate authority.',
    );
  }
  if (/client password must be a string/.test(message)) {
    return refused(
      `The database requires a password for ${place.user}, and none is set`,
      'Add it to DATABASE_URL, or set PGPASSWORD.',
    );
  }
  if (/does not support SSL/i.test(message)) {
    return wrong(
      `The database at ${reachable(place)} does not support TLS`,
      'Enable TLS on the server, or use sslmode=disable if the network is safe.',
    );
  }
  if (/statement pooling mode/.test(message)) {
    return wrong(
      `The pooler at ${reachable(place)} has no transactions`,
      'Set pool_mode=transaction in the pooler, or connect to the server without it.',
    );
  }
  if (/unsupported startup parameter/.test(message)) {
    return wrong(
      `The pooler at ${reachable(place)} refuses a parameter (${message})`,
      'Remove it from DATABASE_URL, or connect to the server without the pooler.',
    );
  }
  if (code !== undefined && /^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) {
    return wrong(
      `No TLS connection to ${reachable(place)} (${message})`,
      'Check the TLS settings of the server and sslmode in DATABASE_URL.',
    );
  }
  if (isAboutRole(error)) {
    return refused(
      `The database refuses the login of ${place.user}: ${message}`,
      'Create the role (createuser --login NAME), or correct the user in DATABASE_URL.',
    );
  }
  if (code !== undefined && BY_CODE[code]) return BY_CODE[code](place);
  if (/timeout/i.test(message)) return unreachable(place, 'does not answer in time');
  return /terminated unexpectedly|Connection terminated/i.test(message) ? lost(place) : undefined;
}

/** The user error for a connection error: a UsageError, CredentialError or TransientError with the next step. */
export function connectError(error: unknown, place: ServerAddress): SluiceError {
  if (error instanceof SluiceError) return error;
  const known = causeOf(error, place);
  if (known) return new known.Kind(`${known.message}.`, { next: known.next, cause: error });
  const code = errorCode(error);
  const found = `${errorText(error)}${code === undefined ? '' : ` (${code})`}`;
  return new TransientError(`The database at ${reachable(place)} can’t be used: ${found}`, {
    next: 'Check the log of the server, then try again.',
    cause: error,
  });
}
