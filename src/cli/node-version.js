/**
 * Refuses a Node that is too old to run the program. Plain JavaScript that every Node can load, because an old version would
 * otherwise report a syntax error of some module.
 */

/** Also in `engines` of package.json. */
const LEAST_MAJOR = 24;

/**
 * Returns why this version cannot run the program; undefined if it can.
 * @param {string} version as in `process.version`
 */
export const tooOld = (version) =>
  Number.parseInt(version.slice(1), 10) < LEAST_MAJOR
    ? `sluice: Node is ${version}; allowed is v${LEAST_MAJOR} or newer.\nInstall Node ${LEAST_MAJOR}. In a checkout, run npm run -s sluice -- COMMAND: npm ci brought a suitable Node.\n`
    : undefined;

/** Returns whether this Node can run the program; otherwise says why not, and sets exit code 2. */
export function isNodeSuitable() {
  const reason = tooOld(process.version);
  if (reason === undefined) return true;
  process.stderr.write(reason);
  process.exitCode = 2;
  return false;
}
