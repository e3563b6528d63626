/**
 * Moves the logged values of new columns out of the logged `extra`, so that the log is what it would be if the columns had
 * always existed. Otherwise a repeated load of old answers would log that `extra` lost them.
 */
import { type Change, textOf, writeLines } from '../../load/history/change-log.ts';
import type { SqlExecutor } from '../../load/sql/executor.ts';
import { arraysOf, typeOf } from '../../load/sql/statements.ts';
import type { ChangeTable } from '../../warehouse/schema/table-types.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { qualified, quoted, quotedList, sameKey } from '../../warehouse/sql/identifiers.ts';
import { type FillableField, moveValues } from './move-values.ts';

/** Lines per transaction. */
const CHUNK = 500;
const EXTRA = 'extra';

interface ExtraLine {
  /** The key of the entity, the receipt and the answer. */
  readonly key: readonly string[];
  readonly from: string | null;
  readonly to: string | null;
}

/** Moves the values of the lines that follow this key; returns the last key, or undefined after the last line. */
export async function fillLogChunk(
  run: SqlExecutor,
  log: ChangeTable,
  fields: readonly FillableField[],
  after: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  const lines = await extraLines(run, log, after);
  const added: Change[] = [];
  const rests: ExtraLine[] = [];
  for (const line of lines) {
    const [before, now] = [divide(fields, line.from), divide(fields, line.to)];
    if (!before && !now) continue;
    added.push(...movedLines(log, line.key, before?.columns ?? NONE, now?.columns ?? NONE));
    rests.push({ key: line.key, from: before ? before.rest : line.from, to: now ? now.rest : line.to });
  }
  await writeLines(run, log, added);
  await rewrite(run, log, rests);
  return lines.length < CHUNK ? undefined : lines.at(-1)?.key;
}

type Columns = ReadonlyMap<string, string | null>;
const NONE: Columns = new Map();

/** The lines of the columns that differ. */
function movedLines(log: ChangeTable, key: readonly string[], before: Columns, now: Columns): Change[] {
  const id = key.slice(0, log.entityKey.length).join('\0');
  const [receivedAt = '', answerId = ''] = key.slice(log.entityKey.length);
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((attribute): Change[] => {
    const [from, to] = [before.get(attribute) ?? null, now.get(attribute) ?? null];
    const isLogged = log.attributes.includes(attribute) && from !== to;
    return isLogged ? [{ id, attribute, from, to, by: { answerId, receivedAt } }] : [];
  });
}

/** The values of columns in a logged `extra`, and the rest; undefined if it has none. */
function divide(
  fields: readonly FillableField[],
  extra: string | null,
): { readonly columns: Columns; readonly rest: string | null } | undefined {
  const moved = moveValues(fields, (column) => (column === EXTRA ? extra : null));
  if (!moved) return undefined;
  const { [EXTRA]: rest, ...columns } = moved;
  return { rest: textOf(rest), columns: new Map(Object.entries(columns).map(([name, cell]) => [name, textOf(cell)])) };
}

const keyOf = ({ entityKey }: ChangeTable): readonly string[] => [...entityKey, 'changed_at', '_answer_id'];

async function extraLines(
  run: SqlExecutor,
  log: ChangeTable,
  after: readonly string[] | undefined,
): Promise<readonly ExtraLine[]> {
  const key = keyOf(log);
  const parameters = key.map((name, index) => `$${index + 1}::${typeOf(log, name)}`);
  const following = after ? `and (${quotedList(key)}) > (${parameters.join(', ')})` : '';
  // An instant as text has its zone, so it is the same instant when it is written.
  const found = await run.rows(
    `select row_to_json(r)::text as row from (
       select ${key.map((name) => `${quoted(name)}::text`).join(', ')}, from_value, to_value
       from ${qualified(run.schema, log.name)} t where attribute = '${EXTRA}' ${following}
       order by ${key.map((name) => `t.${quoted(name)}`).join(', ')} limit ${CHUNK}) r`,
    after ?? [],
  );
  return found.map((row) => ({
    key: key.map((name) => row[name] ?? ''),
    from: row['from_value'] ?? null,
    to: row['to_value'] ?? null,
  }));
}

/** Writes what is left of these lines, and deletes those in which nothing is left that differs. */
async function rewrite(run: SqlExecutor, log: ChangeTable, lines: readonly ExtraLine[]): Promise<void> {
  if (lines.length === 0) return;
  const key = keyOf(log);
  const parameters = [
    ...key.map((_, at) => arrayLiteral(lines.map((line) => line.key[at] ?? null))),
    arrayLiteral(lines.map(({ from }) => from)),
    arrayLiteral(lines.map(({ to }) => to)),
  ];
  const name = qualified(run.schema, log.name);
  const arrays = arraysOf([...key.map((it) => typeOf(log, it)), 'text', 'text']);
  const rests = `${arrays} as u(${quotedList(key)}, "from_rest", "to_rest")`;
  const isLine = `t.attribute = '${EXTRA}' and ${sameKey('t', key, 'u')}`;
  await run.count(
    `update ${name} t set from_value = u.from_rest, to_value = u.to_rest from ${rests} where ${isLine} and u.from_rest is distinct from u.to_rest`,
    parameters,
  );
  await run.count(
    `delete from ${name} t using ${rests} where ${isLine} and u.from_rest is not distinct from u.to_rest`,
    parameters,
  );
}
