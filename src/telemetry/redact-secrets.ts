/** Keeps secrets out of everything that is said: any occurrence of their values, however written, becomes `[redacted]`. */
import { type Redaction, redactionOf } from '../redaction/redaction.ts';

const REDACTED = '[redacted]';

/** The secrets known so far, and the text without them. */
export interface Redactor {
  /** Makes a value secret from now on, in every form in which it might be written. */
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

/** The password inside a database address, as written there; undefined when it has none. */
export function passwordOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const password = url.password !== '' ? url.password : url.searchParams.get('password');
  return password === null || password === '' ? undefined : password;
}

/** The secrets that the environment holds under their usual names. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const password = passwordOf(env['DATABASE_URL'] ?? '');
  return [env['SLUICE_SERVICE_TOKEN'], env['PGPASSWORD'], password].filter((it) => it !== undefined);
}
