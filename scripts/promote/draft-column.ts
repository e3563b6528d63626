/** Declares an unknown field in a checkout: writes the declaration, its migration and the digest of the views. */
import { once } from 'node:events';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { lastNumber, migrationText } from '../migration-file.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import { shapeOf } from '../../src/warehouse/migrate/table-shape.ts';
import { VIEWS_DIGEST } from '../../src/warehouse/migrate/views-current.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { ChosenField } from '../../src/flow/promote/choose-field.ts';
import type { DraftedFiles } from '../../src/flow/promote/promote.ts';
import { readDeclarations } from './declaration-source.ts';
import type { DeclaredDraft, DraftWorkerData } from './draft-worker.ts';
import { editDeclaration } from './edit-declaration.ts';

/** The list of migrations. */
const LIST = 'src/warehouse/migrate/migrations.ts';
/** The root of the checkout, from the folder of the list. */
const FROM_LIST = '../../../';
/** The digest of the views. */
const VIEWS = 'src/warehouse/migrate/views-current.ts';

/** Writes the declaration and what follows from it. `comment` is the column's. If anything fails, all files are as before. */
export async function draftColumn(root: string, chosen: ChosenField, comment: string): Promise<DraftedFiles> {
  const { at, column } = chosen.unknown;
  const declaration = editDeclaration(await readDeclarations(root), chosen, comment);
  const about = `Adds the column ${at.table.name}.${column}, which answers contained before it was declared.`;
  const number = String(lastNumber(Object.keys(steps)) + 1).padStart(4, '0');
  const step = `${number}_promote_${at.table.name}_${column}`;
  const migration = `migrations/${step}.ts`;
  const undo: (() => Promise<void>)[] = [];
  const write = async (path: string, edit: (text: string) => string): Promise<void> => {
    const file = join(root, path);
    const before = await readFile(file, 'utf8');
    undo.push(() => replaceFile(file, before));
    await replaceFile(file, edit(before));
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

/** Replaces the file at once: a process that is killed leaves no part of it, which no later command could load. */
async function replaceFile(file: string, content: string): Promise<void> {
  const unfinished = `${file}.partial`;
  await writeFile(unfinished, content);
  await rename(unfinished, file);
}

/** The migration from the declarations of this process to those on disk. */
async function draftDeclared(): Promise<DeclaredDraft> {
  const workerData: DraftWorkerData = { before: tables.map(shapeOf) };
  const worker = new Worker(new URL('./draft-worker.ts', import.meta.url), { workerData, execArgv: [] });
  const [drafted] = (await once(worker, 'message')) as [DeclaredDraft];
  return drafted;
}
