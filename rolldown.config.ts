/**
 * The package as it is published: few files instead of a thousand, because most of the time from start to the first
 * request is finding, reading and linking modules. The dependencies that are bundled stay declared: their licenses and
 * advisories are looked for there.
 */
import { defineConfig } from 'rolldown';

/** What brings files of its own, loads code by name, is one for the whole process, or is rarely needed. */
const APART = ['@electric-sql/pglite', '@opentelemetry/api', 'cheerio', 'pg', 'pg-boss', 'pino', 'prom-client'];

export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  external: APART.map((name) => new RegExp(`^${name}(?:/|$)`)),
  output: { dir: 'dist', entryFileNames: 'src/[name].js', chunkFileNames: 'src/[name]-[hash].js', cleanDir: true },
});
