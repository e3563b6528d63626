/** Messages about rows that stored answers contain and that are missing from their table. */

/** The number of rows of one table that answers to one sync contain and that are missing. */
export interface DeletedRows {
  readonly sync: string;
  readonly table: string;
  readonly rows: number;
}

/** A sentence about the missing rows and how to restore them. */
export function deletedRowsText({ sync, table, rows }: DeletedRows): string {
  const [which, them] =
    rows === 1 ? ['1 row of stored answers is', 'it'] : [`${rows} rows of stored answers are`, 'them'];
  return `${which} missing from ${table}; sluice replay ${sync} restores ${them} at no cost`;
}
