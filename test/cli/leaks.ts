/** Ways in which a secret could slip out, as data: what goes wrong, and what is then run. */
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { IS_LONG } from '../support/long.ts';

/** Long and odd enough that finding either anywhere means that it leaked. */
export const TOKEN = 'canary-token/"+$9';
export const PASSWORD = 'canary-p@ss w%rd';

/** The spellings in which a secret could slip out. */
export const SPELLINGS = [TOKEN, PASSWORD].flatMap((it) => [
  it,
  encodeURIComponent(it),
  JSON.stringify(it).slice(1, -1),
  JSON.stringify(it).slice(1, -1).replaceAll('/', '\\/'),
]);

type Respond = NonNullable<SandboxOptions['respond']>;
type Reply = NonNullable<ReturnType<Respond>>;

export interface Leak {
  readonly what: string;
  /** How the service answers every call; absent, as it should. */
  readonly reply?: Reply;
  /** Bytes that a service answers instead, before it resets the connection. */
  readonly bytes?: string;
  /** The variables; `%FOLDER%` is replaced by the folder of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files in the folder; the config among them when it is not the usual one. */
  readonly files?: Readonly<Record<string, string>>;
  /** The database cannot store an answer. */
  readonly isFull?: true;
  readonly runs: readonly (readonly string[])[];
  /** Of the first run. */
  readonly code: number;
  /** A text that one of the runs must print, which proves that the scenario happened. */
  readonly says: RegExp;
}

const AFTER = [
  ['status'],
  ['status', '--json'],
  ['quarantine'],
  ['quarantine', 'show', '1', '--json'],
  ['quarantine', 'show', '1'],
  ['report'],
];
const SYNC = [['sync', '--verbose'], ['sync', '--json'], ...AFTER];
/** For a service whose answers are not stored, so that later commands only have the texts of the ledger, which is searched. */
const UNSTORED = IS_LONG ? SYNC : SYNC.slice(0, 3);
const echo = JSON.stringify(TOKEN).slice(1, -1);
const html = `<html><body>token ${TOKEN} refused</body></html>`;
const edge = 'x'.repeat(292);

/** A service that repeats the token in whatever it says. */
const ECHOES: readonly Leak[] = [
  { what: 'a detail', reply: { status: 401, body: { detail: `bad ${TOKEN}` } }, code: 3, says: /bad \[secret\]/ },
  { what: 'plain words', reply: { status: 401, body: `bad ${TOKEN}` }, code: 3, says: /401/ },
  {
    what: 'a header',
    reply: { status: 401, body: '', headers: { 'x-error': `TOKEN ${TOKEN}` } },
    code: 3,
    says: /TOKEN \[secret\]/,
  },
  {
    what: 'a URL',
    reply: { status: 402, body: { detail: `see /buy?for=${encodeURIComponent(TOKEN)}` } },
    code: 6,
    says: /see \/buy\?for=\[secret\]/,
  },
  {
    what: 'a refusal of the plan',
    reply: { status: 403, body: { message: `${TOKEN} may not` } },
    code: 4,
    says: /\[secret\] may not/,
  },
  {
    what: 'the place where a text is cut',
    reply: { status: 422, body: { detail: edge + TOKEN } },
    code: 4,
    says: /x{292}/,
  },
  {
    what: 'a list of errors',
    reply: { status: 422, body: { detail: [{ loc: ['header', TOKEN], msg: TOKEN }] } },
    code: 4,
    says: /header\.\[secret\]: \[secret\]/,
  },
  {
    what: 'a web page of an error',
    reply: { status: 404, body: html, headers: { 'content-type': 'text/html' } },
    code: 4,
    says: /404/,
  },
  { what: 'a missing entity', reply: { status: 412, body: { detail: `nobody ${TOKEN}` } }, code: 0, says: /missing/ },
  {
    what: 'a failure that passes',
    reply: { status: 500, body: { detail: `trace ${TOKEN}` } },
    code: 5,
    says: /got no answer/,
  },
  {
    what: 'a limit',
    reply: { status: 429, body: `slow down ${TOKEN}`, headers: { 'retry-after': '0' } },
    code: 5,
    says: /got no answer/,
  },
  {
    what: 'a redirect',
    reply: { status: 307, body: '', headers: { location: `http://127.0.0.1:1/?t=${encodeURIComponent(TOKEN)}` } },
    code: 4,
    says: /points to http:\/\/127\.0\.0\.1:1\/\?t=\[secret\]/,
  },
  { what: 'a web page as 200', reply: { status: 200, body: html }, code: 4, says: /quarantine/ },
  { what: 'an item as 200', reply: { status: 200, body: [{ note: TOKEN }] }, code: 4, says: /quarantine/ },
  {
    what: 'the headers of an answer',
    reply: { status: 200, body: [], headers: { 'x-echo': TOKEN } },
    code: 0,
    says: /complete/,
  },
].map((it) => ({
  ...it,
  what: `a service that repeats the token in ${it.what}`,
  runs: it.reply.status === 200 || it.reply.status === 412 ? SYNC : UNSTORED,
}));

const BROKEN: readonly Leak[] = [
  { what: 'an answer that is no HTTP', bytes: `HTTP/9 ${TOKEN}\r\n\r\n`, says: /not HTTP/ },
  {
    what: 'an answer that is cut after it',
    bytes: `HTTP/1.1 200 ${TOKEN}\r\nx: ${TOKEN}\r\ncontent-length: 99\r\n\r\n["${echo}`,
    says: /lost/,
  },
  {
    what: 'headers without an end',
    bytes: `HTTP/1.1 200 OK\r\nx: ${TOKEN.repeat(Math.ceil(300_000 / TOKEN.length))}`,
    code: 4,
    says: /larger than 256 KiB/,
  },
].map((it) => ({ code: 5, ...it, what: `the token in ${it.what}`, runs: SYNC }));

const encoded = encodeURIComponent(PASSWORD);
const ALL_READERS = [
  ['check'],
  ['status'],
  ['migrate'],
  ['sync', '--verbose'],
  ['sync', '--json'],
  ['query', 'select 1', '--verbose'],
  ['replay', '--verbose'],
  ['quarantine'],
  ['report'],
  ['plan'],
];
const CHECK = [
  ['check', '--verbose'],
  ['check', '--json'],
  ['sync', '--verbose'],
  ['status', '--verbose'],
];

const DATABASES: readonly Leak[] = [
  {
    what: 'a database that does not answer',
    env: { DATABASE_URL: `postgres://user:${encoded}@127.0.0.1:1/w` },
    runs: ALL_READERS,
    code: 5,
    says: /127\.0\.0\.1:1/,
  },
  {
    what: 'a database that repeats its address in a refusal',
    env: { DATABASE_URL: `postgres://user:${encoded}@%REFUSING%/w?sslmode=disable` },
    runs: ALL_READERS,
    code: 5,
    says: /no route/,
  },
  {
    what: 'a password that was not encoded',
    env: { DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:1/w` },
    runs: CHECK,
    code: 2,
    says: /./,
  },
  {
    what: 'another kind of address',
    env: { DATABASE_URL: `mysql://user:${encoded}@127.0.0.1/w` },
    runs: CHECK,
    code: 2,
    says: /./,
  },
  {
    what: 'the password in a parameter',
    env: { DATABASE_URL: `postgres://h/d?sslmode=x&password=${encoded}` },
    runs: CHECK,
    code: 2,
    says: /sslmode/,
  },
  {
    what: 'a certificate that is not there',
    env: { DATABASE_URL: `postgres://u:${encoded}@127.0.0.1:1/w?sslmode=verify-full&sslrootcert=/none` },
    runs: CHECK,
    code: 2,
    says: /none/,
  },
  {
    what: 'a password of the environment',
    env: { DATABASE_URL: 'postgres://user@%REFUSING%/w?sslmode=disable', PGPASSWORD: PASSWORD },
    runs: CHECK,
    code: 5,
    says: /no route/,
  },
];

const config = (service: string, more = ''): string =>
  `service: { ${service} }\nwarehouse: { url: "\${DATABASE_URL}" ${more} }\nsyncs: { groups: { endpoint: pronet.group, request: { group: "1" } } }\n`;
const broken = (text: string): Pick<Leak, 'files' | 'env'> => ({
  files: { 'broken.yaml': text },
  env: { SLUICE_CONFIG: '%FOLDER%/broken.yaml' },
});
const VALID = 'url: "http://127.0.0.1:1", token: "${SLUICE_SERVICE_TOKEN}"';

const CONFIGS: readonly Leak[] = [
  { what: 'as the address of the service', ...broken(config('url: "${SLUICE_SERVICE_TOKEN}"')) },
  { what: 'inside the address of the service', ...broken(config('url: "http://user:${SLUICE_SERVICE_TOKEN}@h"')) },
  { what: 'as a number', ...broken(config(`${VALID}, in_flight: "\${SLUICE_SERVICE_TOKEN}"`)) },
  { what: 'as a schema', ...broken(config(VALID, ', schema: "${SLUICE_SERVICE_TOKEN}"')) },
  { what: 'as the warehouse', ...broken(config(VALID).replace('${DATABASE_URL}', '${SLUICE_SERVICE_TOKEN}')) },
  { what: 'as an endpoint', ...broken(config(VALID).replace('pronet.group', '"${SLUICE_SERVICE_TOKEN}"')) },
  {
    what: 'as a URN',
    ...broken(
      config(VALID).replace(
        'pronet.group, request: { group: "1" }',
        'pronet.user.education, request: { count: 1, urn: "${SLUICE_SERVICE_TOKEN}" }',
      ),
    ),
  },
  {
    what: 'as a file of inputs',
    ...broken(
      config(VALID).replace(
        'request: { group: "1" }',
        'for_each: { group: { file: "${SLUICE_SERVICE_TOKEN}.csv", column: x } }',
      ),
    ),
  },
  {
    what: 'as a date',
    ...broken(
      config(VALID).replace(
        'pronet.group, request: { group: "1" }',
        'sec.search.companies, request: { count: 1 }, window: { from: "${SLUICE_SERVICE_TOKEN}" }',
      ),
    ),
  },
].map((it) => ({ ...it, what: `the token ${it.what}`, runs: CHECK, code: 2, says: /./ }));

const TOKENS: readonly Leak[] = [
  {
    what: 'a token with a blank',
    env: { SLUICE_SERVICE_TOKEN: `${TOKEN} ${TOKEN}` },
    runs: CHECK,
    code: 2,
    says: /token/,
  },
  {
    what: 'a token with a line break',
    env: { SLUICE_SERVICE_TOKEN: `${TOKEN}\n` },
    runs: CHECK,
    code: 2,
    says: /token/,
  },
  {
    what: 'a token from a file, with a blank',
    env: { SLUICE_SERVICE_TOKEN: '', SLUICE_SERVICE_TOKEN_FILE: '%FOLDER%/secret' },
    files: { secret: `${TOKEN} x\n` },
    runs: CHECK,
    code: 2,
    says: /token/,
  },
  {
    what: 'a token from a file that the service repeats',
    env: { SLUICE_SERVICE_TOKEN: '', SLUICE_SERVICE_TOKEN_FILE: '%FOLDER%/secret' },
    files: { secret: `${TOKEN}\n` },
    reply: { status: 401, body: { detail: `bad ${TOKEN}` } },
    runs: SYNC,
    code: 3,
    says: /bad \[secret\]/,
  },
  {
    what: 'an address from a file',
    env: { DATABASE_URL: '', DATABASE_URL_FILE: '%FOLDER%/secret' },
    files: { secret: `postgres://user:${encoded}@127.0.0.1:1/w\n` },
    runs: ALL_READERS,
    code: 5,
    says: /127\.0\.0\.1:1/,
  },
  {
    what: 'an address from a file that is none',
    env: { DATABASE_URL: '', DATABASE_URL_FILE: '%FOLDER%/secret' },
    files: { secret: `mysql://user:${encoded}@h/w\n` },
    runs: CHECK,
    code: 2,
    says: /DATABASE_URL/,
  },
  {
    what: 'an answer that the database can’t store, with the token in its headers',
    reply: { status: 200, body: [], headers: { 'x-echo': TOKEN } },
    isFull: true,
    runs: [['sync', '--verbose'], ['status']],
    code: 5,
    says: /kept in/,
  },
];

/** Every scenario. */
export const leaks: readonly Leak[] = [...ECHOES, ...BROKEN, ...DATABASES, ...CONFIGS, ...TOKENS];
