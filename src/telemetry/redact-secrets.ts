/** Keeps secrets out of all output: every occurrence of a secret, in any encoding, becomes `[redacted]`. */
import { type Redaction, redactionOf } from '../redaction/redaction.ts';
import { withHost } from '../text/database-address.ts';

const REDACTED = '[redacted]';

/** Removes the secrets that were added so far from texts. */
export interface Redactor {
  /** Adds a secret, which is redacted from now on in every encoding. */
  readonly add: (value: string) => void;
  readonly redact: Redaction;
}

export function createRedactor(values: readonly string[] = []): Redactor {
  const secrets = new Set(values);
  let redaction = redactionOf([...secrets], REDACTED);
  return {
    add: (value) => {
      secrets.add(value);
      redaction = redactionOf([...secrets], REDACTED);
    },
    redact: (text) => redaction(text),
  };
}

/** The passwords in a database address, as they are written there: it has room for two. */
export function passwordsIn(address: string): string[] {
  const url = URL.parse(withHost(address));
  return url ? [url.password, ...url.searchParams.getAll('password')].filter((it) => it !== '') : [];
}

/** The secrets that the environment contains under their standard names. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const {
    SLUICE_SERVICE_TOKEN: token,
    SLUICE_MASKING_KEY: key,
    PGPASSWORD: password,
    DATABASE_URL: address = '',
  } = env;
  return [token, key, password, ...passwordsIn(address)].filter((it) => it !== undefined);
}
