/** The text of how many rows of each table differ. */
import type { TableChanges } from '../../insight/row-changes.ts';
import type { Channel } from '../terminal/channel.ts';
import { column, figures, tableOf } from '../terminal/print.ts';

/** Returns the table of differences, or a line that says that there are none. */
export const rowChangesText = (tables: readonly TableChanges[], out: Channel): string =>
  tableOf(tables, out, [column('table', (it) => it.table), ...figures('new', 'changed', 'gone')]) ||
  'no row is new, changed or gone\n';
