/** Rows that stored answers brought and that are not in their table, as people read of them. */

/** Rows of one table that answers to one sync brought and that are not there. */
export interface DeletedRows {
  readonly sync: string;
  readonly table: string;
  readonly rows: number;
}

/** A sentence on the rows, with how to bring them back. */
export function deletedRowsText({ sync, table, rows }: DeletedRows): string {
  const [which, them] =
    rows === 1
      ? ['1 row that stored answers brought is', 'it']
      : [`${rows} rows that stored answers brought are`, 'them'];
  return `${which} not in ${table} any more; sluice replay ${sync} brings ${them} back at no cost`;
}
