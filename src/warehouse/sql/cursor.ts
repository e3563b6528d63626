/** Reads a result of any length in parts, so that it need not fit into memory. */
import type { RunText, StreamText, TextResult } from './read-only-session.ts';

const CURSOR = 'sluice_read';
/** Rows per fetch: few, because one row may contain a page of megabytes. */
const MOST_ROWS = 100;

/** The rows of a statement in parts, through a cursor of the transaction in which `run` works. */
export const streamOf = (run: RunText): StreamText =>
  async function* stream(statement, parameters): AsyncGenerator<TextResult, void> {
    await run(`declare ${CURSOR} no scroll cursor for ${statement}`, parameters);
    // The first fetch has one row, to get the columns soon. The size of the rows is unknown.
    for (let count = 1; ; count = MOST_ROWS) {
      const part = await run(`fetch ${count} from ${CURSOR}`);
      yield part;
      if (part.rows.length < count) break;
    }
    await run(`close ${CURSOR}`);
  };
