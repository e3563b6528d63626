/**
 * The rows of the operations tables, as Kysely takes them. They are declared in `warehouse/operations.ts`, from which
 * the migration, the comments and the drift check are made too.
 */
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { Warehouse } from '../warehouse/connect.ts';
import type { OperationsTables } from '../warehouse/operations.ts';

/** The operations tables by name, without their schema. */
export interface OpsDatabase extends OperationsTables {}

export type Run = Selectable<OpsDatabase['runs']>;
export type NewRun = Insertable<OpsDatabase['runs']>;
export type RunState = Run['state'];

/** A row of the ledger. */
export type Request = Selectable<OpsDatabase['requests']>;
export type NewRequest = Insertable<OpsDatabase['requests']>;
export type RequestChange = Updateable<OpsDatabase['requests']>;
export type RequestState = Request['state'];

/** A row of the vault. */
export type StoredAnswer = Selectable<OpsDatabase['answers']>;
export type NewAnswer = Insertable<OpsDatabase['answers']>;

/** The warehouse's connection with its operations schema written before every table that a query names. */
export const operationsOf = (warehouse: Pick<Warehouse, 'db' | 'ops'>): Kysely<OpsDatabase> =>
  warehouse.db.withSchema(warehouse.ops);

/** A connection or transaction whose tables are those of the operations schema. */
export type Ops = Kysely<OpsDatabase>;
