/** The machinery's table of the schemas that rebuilds work in. */
import { timestamp, table, text } from './column-types.ts';

export const rebuildTables = {
  rebuilds: table(
    'Schemas that sluice replay --rebuild created to work in: one row per rebuild that is in progress or was killed.',
    {
      id: text('Random id of the rebuild; the comment on its schema holds it.'),
      schema_name: text('The schema that it created.'),
      started_at: timestamp('When it created the schema.'),
    },
    { key: ['id'] },
  ),
};
