/**
 * Drafts the migration from declared tables to those of the sources as they are now. It runs in a thread of its own, which
 * reads the edited declarations; the thread that edited them has loaded them before.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { draftMigration, type MigrationDraft } from '../migration-draft.ts';
import type { TableShape } from '../../src/warehouse/migrate/table-shape.ts';
import { viewsDigest } from '../../src/warehouse/migrate/views.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';

/** What the thread gets: the tables before the change. */
export interface DraftWorkerData {
  readonly before: readonly TableShape[];
}

/** What the thread sends: the migration, and the digest of the views after it. */
export interface DeclaredDraft {
  readonly draft: MigrationDraft;
  readonly viewsDigest: string;
}

const { before } = workerData as DraftWorkerData;
const drafted: DeclaredDraft = {
  draft: draftMigration({ tables: before, views: [] }, tables),
  viewsDigest: viewsDigest(),
};
parentPort?.postMessage(drafted, []);
