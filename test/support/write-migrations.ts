/**
 * Writes the migrations that create the declared tables: `node test/support/write-migrations.ts`.
 * Only until they are frozen; from then on a change is a migration of its own, which `draft-migration.ts` drafts.
 */
import { writeFile } from 'node:fs/promises';
import type { DdlTable } from '../../src/warehouse/ddl.ts';
import { draftMigration } from '../../src/warehouse/draft.ts';
import { migrationText } from '../../src/warehouse/migration-text.ts';
import { operationsTables } from '../../src/warehouse/operations.ts';
import { tables } from '../../src/warehouse/table.ts';
import { FROZEN, frozenText, MIGRATIONS } from './frozen.ts';

const empty = { tables: [], views: [] };
const all = (declared: readonly DdlTable[]) => draftMigration(empty, declared);

const OPERATIONS = 'The tables of the machinery: runs, the ledger, the vault and what is known of them.';
const TABLES = 'The tables for analysts, one for each resource, list and bridge.';
await writeFile(
  new URL('0001_operations.ts', MIGRATIONS),
  migrationText(OPERATIONS, 'operations', all(operationsTables)),
);
await writeFile(new URL('0002_tables.ts', MIGRATIONS), migrationText(TABLES, 'analyst', all(tables)));
await writeFile(FROZEN, await frozenText());
