/** Keeps secrets out of everything that is said: any occurrence of their values, however written, becomes `[redacted]`. */

const REDACTED = '[redacted]';

/**
 * Below this length a value is no secret worth the name, and replacing it would shred every message that holds the same
 * few letters by chance.
 */
const SHORTEST = 4;

/** The secrets known so far, and the text without them. */
export interface Redactor {
  /** Makes a value secret from now on: as it is, URL-encoded, decoded, and as JSON writes it. */
  readonly add: (value: string) => void;
  readonly redact: (text: string) => string;
}

export function createRedactor(values: readonly string[] = []): Redactor {
  const forms = new Set<string>();
  let pattern: RegExp | undefined;
  const add = (value: string): void => {
    for (const form of formsOf(value)) if (form.length >= SHORTEST) forms.add(form);
    // The longest first: a form that begins like a longer one would leave the longer one's end standing.
    const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
    pattern = forms.size === 0 ? undefined : new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g');
  };
  for (const value of values) add(value);
  return { add, redact: (text) => (pattern ? text.replace(pattern, REDACTED) : text) };
}

function formsOf(value: string): string[] {
  const spellings = [value, encodeURIComponent(value.toWellFormed()), encodeURI(value.toWellFormed()), decoded(value)];
  return spellings.flatMap((spelling) => [spelling, JSON.stringify(spelling).slice(1, -1)]);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
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
