/**
 * The bundle of the published package: few files instead of a thousand, because most of the time from start to the first
 * request is finding, reading and linking modules. Bundled dependencies stay declared in package.json, where tools look for
 * licenses and advisories.
 */
import { defineConfig } from 'rolldown';

/** Packages that have data files, load code by name, must exist once in a process, or are rarely needed. */
const NOT_BUNDLED = [
  '@electric-sql/pglite',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  'cheerio',
  'pg',
  'pg-boss',
  'pino',
  'prom-client',
  'string-width',
];

/** Modules that every command loads, also for its help. */
const STARTED =
  /src[/](?:errors|day|text[/]|redaction[/]|telemetry[/]redact|cli[/]|config[/]document[/]nearest)|fastest-levenshtein/;

/**
 * Modules that many lazy imports share are in few files, because finding and linking a file takes longer than evaluating some
 * modules that a command does not need. Two files suffice: what most of them share, and what several share.
 */
const SHARED = [
  { name: 'started', test: STARTED, minShareCount: 12, priority: 2 },
  { name: 'most', minShareCount: 30, priority: 1 },
  { name: 'several', minShareCount: 8 },
];

export default defineConfig({
  // The thread of the embedded database is started from its own file.
  input: { main: 'src/main.ts', 'database-thread': 'src/warehouse/embedded/database-thread.ts' },
  platform: 'node',
  external: NOT_BUNDLED.map((name) => new RegExp(`^${name}(?:/|$)`)),
  output: {
    dir: 'dist',
    entryFileNames: 'src/[name].js',
    chunkFileNames: 'src/[name]-[hash].js',
    cleanDir: true,
    codeSplitting: { groups: SHARED },
  },
});
