/**
 * Lets Node keep what it compiled of the program, so that only the first start after a change pays for that. In plain
 * JavaScript: TypeScript that comes before this has been said is stripped of its types at every start.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

/** What it kept runs as code, so nobody else may write there. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Keeps it in the user's folder for caches, from the next import on. Does nothing where there is no such folder, or none
 * that is the user's alone: the program starts slower, and runs the same. Node's own `NODE_COMPILE_CACHE` and
 * `NODE_DISABLE_COMPILE_CACHE` come first.
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function keepCompiled(env) {
  const folder = cacheFolder(env);
  if (folder !== undefined && isOurs(folder)) enableCompileCache(folder);
}

/**
 * By the XDG base directory specification, which has relative paths ignored.
 * @param {Readonly<Record<string, string | undefined>>} env
 */
function cacheFolder({ XDG_CACHE_HOME: named = '', HOME: home = '' }) {
  if (isAbsolute(named)) return join(named, 'sluice');
  return isAbsolute(home) ? join(home, '.cache', 'sluice') : undefined;
}

/** @param {string} folder */
function isOurs(folder) {
  try {
    // One by one: told to make parents too, Node asks again for ever where none can be made, as in /proc.
    for (const path of [dirname(folder), folder]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    const { uid, mode } = statSync(folder);
    return uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
  } catch {
    return false;
  }
}
