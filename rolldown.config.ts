/**
 * The bundle of the published package: few files instead of a thousand, because most of the time from start to the first
 * request is finding, reading and linking modules. Bundled dependencies stay declared in package.json, where tools look for
 * licenses and advisories.
 */
import { defineConfig } from 'rolldown';

/** Packages that have data files, load code by name, must exist once in a process, or are rarely needed. */
const NOT_BUNDLED = [
  '@electric-sql/pglite',
  '@opentelemetry/api',
  'cheerio',
  'pg',
  'pg-boss',
  'pino',
  'prom-client',
  'string-width',
];

/** Packages for development, for code that runs in a checkout only: `sluice promote` reads and edits sources. */
const ONLY_IN_CHECKOUTS = ['rolldown'];

export default defineConfig({
  // The thread of the embedded database is started from its own file.
  input: { main: 'src/main.ts', 'database-thread': 'src/warehouse/embedded/database-thread.ts' },
  platform: 'node',
  external: [...NOT_BUNDLED, ...ONLY_IN_CHECKOUTS].map((name) => new RegExp(`^${name}(?:/|$)`)),
  output: { dir: 'dist', entryFileNames: 'src/[name].js', chunkFileNames: 'src/[name]-[hash].js', cleanDir: true },
});
