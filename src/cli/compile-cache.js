/**
 * Enables the compile cache of Node, so that only the first start after a change compiles the program. This file is plain
 * JavaScript, because Node would strip the types of a TypeScript file that loads before the cache at every start.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

/** Cached code is executed, so no other user may have write access to the cache. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Enables the cache in the user's cache folder for all later imports. Does nothing if there is no such folder, or if
 * other users can write there: the program then only starts more slowly. `NODE_COMPILE_CACHE` and
 * `NODE_DISABLE_COMPILE_CACHE` of Node take precedence.
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function keepCompiled(env) {
  const folder = cacheFolder(env);
  if (folder !== undefined && isOurs(folder)) nodeModule.enableCompileCache(folder);
}

/**
 * The folder according to the XDG base directory specification, which ignores relative paths.
 * @param {Readonly<Record<string, string | undefined>>} env
 */
function cacheFolder({ XDG_CACHE_HOME: named = '', HOME: home = '' }) {
  if (isAbsolute(named)) return join(named, 'sluice');
  return isAbsolute(home) ? join(home, '.cache', 'sluice') : undefined;
}

/** @param {string} folder */
function isOurs(folder) {
  try {
    // Without `recursive`, which makes Node retry forever where no folder can be created, such as in /proc.
    for (const path of [dirname(folder), folder]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    const { uid, mode } = statSync(folder);
    return uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
  } catch {
    return false;
  }
}
