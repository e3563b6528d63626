/** Keeps secrets out of all output: every occurrence of a secret, in any encoding, becomes `[redacted]`. */
import { type Redaction, redactionOf } from '../redaction/redaction.ts';

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

/** The password in a database address, as it is written there; undefined if there is none. */
export function passwordOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const password = url.password !== '' ? url.password : url.searchParams.get('password');
  return password === null || password === '' ? undefined : password;
}

/** The secrets that the environment contains under their standard names. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const password = passwordOf(env['DATABASE_URL'] ?? '');
  return [env['SLUICE_SERVICE_TOKEN'], env['SLUICE_MASKING_KEY'], env['PGPASSWORD'], password].filter(
    (it) => it !== undefined,
  );
}
