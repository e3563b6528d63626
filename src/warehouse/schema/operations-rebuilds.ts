/** The operations table of the schemas in which rebuilds work. */
import { timestamp, table, text } from './column-types.ts';

export const rebuildTables = {
  rebuilds: table(
    'Schemas that sluice replay --rebuild created to work in: one row per rebuild that is in progress or was killed.',
    {
      id: text('Random id of the rebuild, which the comment on its schema contains.'),
      schema_name: text('Name of the created schema.'),
      started_at: timestamp('Creation of the schema.'),
    },
    { key: ['id'] },
  ),
};
