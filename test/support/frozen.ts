/** Digests of the migrations: a database somewhere has run each as it is, so none may change again. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** The folder of the migrations. */
export const MIGRATIONS = new URL('../../migrations/', import.meta.url);
/** The file that holds their digests, as `sha256sum` writes them. */
export const FROZEN = new URL('../golden/migrations.sha256', import.meta.url);

/** Names of the migrations, in order. */
export async function migrationFiles(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).toSorted();
}

/** The digests as they are now. Formatting may change; what the files say may not. */
export async function frozenText(): Promise<string> {
  const lines = (await migrationFiles()).map(async (name) => `${await digest(name)}  ${name}\n`);
  return (await Promise.all(lines)).join('');
}

async function digest(name: string): Promise<string> {
  const text = await readFile(new URL(name, MIGRATIONS), 'utf8');
  return createHash('sha256').update(text.replaceAll(/\s+/g, ' ')).digest('hex');
}
