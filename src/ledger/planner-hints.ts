/** Conditions whose truth the planner is not to guess from what it last learned of a table. */
import { type Expression, type SqlBool, sql } from 'kysely';

/**
 * The condition, reckoned by the planner to hold for every second row. Statistics were taken when earlier runs had ended:
 * by them a table holds no row in the state of one that is under way, and a join by key would begin with a look at them
 * all, and compare each that there is with all the keys.
 */
export const hideFromStatistics = (condition: Expression<SqlBool>): Expression<SqlBool> =>
  sql<SqlBool>`case when ${condition} then true else false end`;
