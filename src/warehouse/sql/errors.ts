/** What a database says when it can't be used, as an error that its reader can act on. */
import { CredentialError, EXIT, SluiceError, TransientError, UsageError } from '../../errors.ts';

interface DriverError {
  readonly code?: unknown;
  readonly errors?: unknown;
}

/** Where the database is, as messages name it; never with a password. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

const wrong = (message: string, next: string) => ({ exitCode: EXIT.usage, message, next });
const refused = (message: string, next: string) => ({ exitCode: EXIT.credential, message, next });
const passing = (message: string, next: string) => ({ exitCode: EXIT.transient, message, next });
type Verdict = ReturnType<typeof wrong> | ReturnType<typeof refused> | ReturnType<typeof passing>;

/** The code of a database or system error, wherever the driver keeps it. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = (error ?? {}) as DriverError;
  if (typeof code === 'string') return code;
  return Array.isArray(errors) ? errorCode(errors[0]) : undefined;
}

/** True of a login that is refused because the role does not exist or may not log in. */
export const isAboutRole = (error: unknown): boolean =>
  errorCode(error) === '28000' && (error as { readonly routine?: unknown }).routine === 'InitializeSessionUserId';

/** What an error says; the first of several that stand for one. */
function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return errorText(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

const reachable = ({ host, port }: ServerAddress): string => (host.startsWith('/') ? host : `${host}:${port}`);

const VERDICTS: Readonly<Record<string, (place: ServerAddress) => Verdict>> = {
  '28P01': (it) =>
    refused(
      `The database refused the password of ${it.user}`,
      'Correct the user and password in DATABASE_URL; encode characters such as @ / ? # as %40 %2F %3F %23.',
    ),
  '28000': (it) =>
    // pg_hba.conf has no line that allows it.
    refused(
      `The database refuses ${it.user} from this machine`,
      'Allow the user, database and kind of connection in the server’s pg_hba.conf, or change sslmode in DATABASE_URL.',
    ),
  '3D000': (it) =>
    wrong(
      `The server has no database ${it.database}`,
      `Create it (createdb ${it.database}), or correct the name in DATABASE_URL.`,
    ),
  '42501': (it) =>
    wrong(
      `The user ${it.user} lacks a right`,
      'Grant it CREATE and CONNECT on the database, or create both schemas and make it their owner.',
    ),
  '53300': () =>
    passing('The database has no connection left', 'Try again when others have ended, or raise its max_connections.'),
  '57P03': () => passing('The database is starting up or shutting down', 'Try again in a moment.'),
  ECONNREFUSED: (it) =>
    passing(
      `Nothing answers at ${reachable(it)}`,
      'Start the database, or correct host and port in DATABASE_URL; unset it for the embedded warehouse.',
    ),
  ECONNRESET: (it) =>
    passing(`The connection to ${reachable(it)} was cut`, 'Try again; see the server’s log if it stays.'),
  ENOENT: (it) =>
    passing(`No socket of a database in ${it.host}`, 'Start the database, or correct the folder in DATABASE_URL.'),
  ENOTFOUND: (it) => wrong(`No machine is named ${it.host}`, 'Correct the host in DATABASE_URL.'),
  EAI_AGAIN: (it) =>
    passing(`The name ${it.host} can’t be looked up now`, 'Try again; see this machine’s name service if it stays.'),
  ETIMEDOUT: (it) =>
    passing(`${reachable(it)} does not answer`, 'See whether a firewall stands between, and try again.'),
  EHOSTUNREACH: (it) => passing(`${reachable(it)} can’t be reached`, 'See the network between, and try again.'),
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

const CLASSES = {
  [EXIT.usage]: UsageError,
  [EXIT.credential]: CredentialError,
  [EXIT.transient]: TransientError,
} as const;

function verdictOf(error: unknown, place: ServerAddress): Verdict | undefined {
  const code = errorCode(error);
  const message = errorText(error);
  if (code !== undefined && UNTRUSTED.has(code)) {
    return wrong(
      `The certificate of ${reachable(place)} is not trusted (${message})`,
      'Name its authority with sslrootcert=FILE, or use sslmode=require to trust any.',
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return wrong(
      `The certificate of ${reachable(place)} is for another name`,
      'Use the name in the certificate, or sslmode=verify-ca to check its authority alone.',
    );
  }
  if (/client password must be a string/.test(message)) {
    return refused(
      `The database wants a password of ${place.user}, and there is none`,
      'Put it into DATABASE_URL, or into PGPASSWORD.',
    );
  }
  if (/does not support SSL/i.test(message)) {
    return wrong(
      `The database at ${reachable(place)} speaks no TLS`,
      'Turn it on there, or say sslmode=disable where the network itself is safe.',
    );
  }
  if (code !== undefined && /^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) {
    return wrong(
      `No TLS connection to ${reachable(place)} (${message})`,
      'See the TLS settings of the server and sslmode in DATABASE_URL.',
    );
  }
  if (isAboutRole(error)) {
    return refused(
      `The database does not let ${place.user} in: ${message}`,
      'Create the role (createuser --login NAME), or correct the user in DATABASE_URL.',
    );
  }
  if (code !== undefined && VERDICTS[code]) return VERDICTS[code](place);
  if (/timeout/i.test(message))
    return passing(
      `${reachable(place)} does not answer in time`,
      'See whether a firewall stands between, and try again.',
    );
  if (/terminated unexpectedly|Connection terminated/i.test(message))
    return passing(`The connection to ${reachable(place)} was cut`, 'Try again; see the server’s log if it stays.');
  return undefined;
}

/** The error to show for one that came while connecting: a UsageError, CredentialError or TransientError that says what to do. */
export function connectError(error: unknown, place: ServerAddress): SluiceError {
  if (error instanceof SluiceError) return error;
  const verdict = verdictOf(error, place);
  if (!verdict) {
    const code = errorCode(error);
    const told = errorText(error);
    return new TransientError(
      `The database at ${reachable(place)} can’t be used: ${told}${code === undefined ? '' : ` (${code})`}`,
      {
        next: 'See the server’s log, and try again.',
        cause: error,
      },
    );
  }
  const { message, next } = verdict;
  return new CLASSES[verdict.exitCode](`${message}.`, { next, cause: error });
}
