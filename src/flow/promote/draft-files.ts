/** Writes a changed declaration, its migration and the digest of the views that follow from it, into a checkout. */
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { lastNumber, migrationText } from '../../warehouse/migrate/draft-file.ts';
import { steps } from '../../warehouse/migrate/migrations.ts';
import { shapeOf } from '../../warehouse/migrate/table-shape.ts';
import { VIEWS_DIGEST } from '../../warehouse/migrate/views-current.ts';
import { tables } from '../../warehouse/schema/tables.ts';
import type { DeclaredDraft, DraftWorkerData } from './draft-worker.ts';
import type { EditedFile } from './edit-declaration.ts';

/** The files that were written, and what the migration leaves to the developer. */
export interface DraftedFiles {
  /** Paths below the root of the checkout. */
  readonly files: readonly string[];
  readonly statements: readonly string[];
  readonly undecided: readonly string[];
}

/** The list of migrations. */
const LIST = 'src/warehouse/migrate/migrations.ts';
/** The root of the checkout, from the folder of the list. */
const FROM_LIST = '../../../';
/** The digest of the views. */
const VIEWS = 'src/warehouse/migrate/views-current.ts';

/**
 * Writes the declaration and what follows from it. `about` describes the migration in one sentence. If anything fails, all
 * files are as before.
 */
export async function draftFiles(
  root: string,
  declaration: EditedFile,
  { name, about }: { readonly name: string; readonly about: string },
): Promise<DraftedFiles> {
  const step = `${String(lastNumber(Object.keys(steps)) + 1).padStart(4, '0')}_${name}`;
  const migration = `migrations/${step}.ts`;
  const undo: (() => Promise<void>)[] = [];
  const write = async (path: string, edit: (text: string) => string): Promise<void> => {
    const file = join(root, path);
    const before = await readFile(file, 'utf8');
    undo.push(() => writeFile(file, before));
    await writeFile(file, edit(before));
  };
  try {
    await write(declaration.path, () => declaration.after);
    const { draft, viewsDigest } = await draftDeclared();
    await writeFile(join(root, migration), migrationText(about, 'analyst', draft), { flag: 'wx' });
    undo.push(() => rm(join(root, migration)));
    await write(LIST, (text) =>
      text.replace(/\n\};\s*$/, `\n  '${step}': () => import('${FROM_LIST}${migration}'),\n};\n`),
    );
    if (viewsDigest !== VIEWS_DIGEST) await write(VIEWS, (text) => text.replace(VIEWS_DIGEST, viewsDigest));
    const views = viewsDigest === VIEWS_DIGEST ? [] : [VIEWS];
    return {
      files: [declaration.path, migration, LIST, ...views],
      statements: draft.statements,
      undecided: draft.undecided,
    };
  } catch (error) {
    for (const restore of undo.toReversed()) await restore();
    throw error;
  }
}

/** The migration from the declarations of this process to those on disk. */
async function draftDeclared(): Promise<DeclaredDraft> {
  const workerData: DraftWorkerData = { before: tables.map(shapeOf) };
  const worker = new Worker(new URL('./draft-worker.ts', import.meta.url), { workerData, execArgv: [] });
  const [drafted] = (await once(worker, 'message')) as [DeclaredDraft];
  return drafted;
}
