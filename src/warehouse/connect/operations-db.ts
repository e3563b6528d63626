/**
 * The rows of the operations tables, as Kysely takes them. They are declared in `warehouse/schema/operations.ts`, from which
 * the migration, the comments and the drift check are made too.
 */
import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Warehouse } from './connect.ts';
import type { OperationsTables } from '../schema/operations.ts';

/** The operations tables by name, without their schema. */
export interface OpsDatabase extends OperationsTables {}

/** A connection or transaction whose tables are those of the operations schema. */
export type Ops = Kysely<OpsDatabase>;

/** How a request of the ledger stands or ended. */
export type RequestState = Selectable<OpsDatabase['requests']>['state'];
export type NewRequest = Insertable<OpsDatabase['requests']>;
export type NewAnswer = Insertable<OpsDatabase['answers']>;

/** The connection or transaction with the operations schema written before every table that a query names. */
export const operationsOf = ({ db, ops }: Pick<Warehouse, 'db' | 'ops'>): Ops => db.withSchema(ops);
