/** Conditions whose selectivity the planner must not estimate from statistics. */
import { type Expression, type SqlBool, sql } from 'kysely';

/**
 * Returns the condition in a form that the planner expects to hold for half of the rows. The statistics were taken
 * after earlier runs had ended, so they show no row in the states of a running one. A join by key would then scan all
 * rows in such a state first, and compare each with all keys.
 */
export const hideFromStatistics = (condition: Expression<SqlBool>): Expression<SqlBool> =>
  sql<SqlBool>`case when ${condition} then true else false end`;
