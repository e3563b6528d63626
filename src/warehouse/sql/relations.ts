/** Finds the tables and views that a statement reads by their names. It reads the text as tokens and is no parser. */

/** A string, a comment, a quoted name, a word, or one other character. Linear for any text. */
const TOKEN = /'(?:[^']|'')*'?|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|"[^"]*"?|[\p{L}_][\p{L}\p{N}_$]*|\S/gu;

/** Words that a table or view follows. */
const BEFORE_RELATION: readonly string[] = ['from', 'join', 'table', 'only'];

export interface RelationNames {
  /** The names of tables and views. */
  readonly relations: ReadonlySet<string>;
  /** The names of columns. A relation with the name of a column counts only where a relation must be. */
  readonly columns: ReadonlySet<string>;
}

/** The known tables and views that the statement names, with or without a schema, each once and in order. */
export function relationsIn(sql: string, { relations, columns }: RelationNames): string[] {
  const tokens = (sql.match(TOKEN) ?? []).filter((token) => !/^(?:'|--|\/\*)/.test(token)).map(nameOf);
  const found = tokens.filter((token, index) => {
    if (!relations.has(token)) return false;
    if (!columns.has(token)) return true;
    const before = tokens[index - 1] === '.' ? tokens[index - 3] : tokens[index - 1];
    return BEFORE_RELATION.includes(before ?? '');
  });
  return [...new Set(found)];
}

/** The name that a token means: without its quotes as written, otherwise in lower case. */
const nameOf = (token: string): string => (token.startsWith('"') ? token.replaceAll('"', '') : token.toLowerCase());
