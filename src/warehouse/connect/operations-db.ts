/**
 * The row types of the operations tables for Kysely. They come from `warehouse/schema/operations.ts`, as do the
 * migration, the comments and the drift check.
 */
import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Warehouse } from './connect.ts';
import type { OperationsTables } from '../schema/operations.ts';

/** The operations tables by name, without their schema. */
export interface OpsDatabase extends OperationsTables {}

/** A connection or transaction whose tables are those of the operations schema. */
export type Ops = Kysely<OpsDatabase>;

/** The state of a request in the ledger. */
export type RequestState = Selectable<OpsDatabase['requests']>['state'];
export type NewRequest = Insertable<OpsDatabase['requests']>;
export type NewAnswer = Insertable<OpsDatabase['answers']>;

/** The connection or transaction, with the operations schema as the schema of every table in a query. */
export const operationsOf = ({ db, ops }: Pick<Warehouse, 'db' | 'ops'>): Ops => db.withSchema(ops);
