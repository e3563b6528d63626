/** The text of a statement: its first word, and where it ends. Comments, quotes and strings are read as Postgres reads them. */

/** The first word in lower case, after spaces, comments and opening parentheses. It shows the kind of statement. */
export function firstWord(statement: string): string {
  let rest = statement;
  for (;;) {
    const next = rest.replace(/^[\s(]+/, '').replace(/^--[^\n]*(\n|$)/, '');
    const after = next.startsWith('/*') ? next.slice(commentLength(next)) : next;
    if (after === rest) return /^[a-z]+/i.exec(after)?.[0].toLowerCase() ?? after.slice(0, 1);
    rest = after;
  }
}

/** Spaces, the end of a statement, comments, strings, quoted names, words, and any other character. */
const TOKEN = new RegExp(
  [
    String.raw`\s+|;|--[^\n]*|/\*`,
    String.raw`e'(?:\\[^]|''|[^'\\])*'|'(?:''|[^'])*'|"(?:""|[^"])*"`,
    String.raw`\$((?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$[^]*?\$\1\$`,
    String.raw`[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|[^]`,
  ].join('|'),
  'giy',
);
const ENDING = /^(?:\s|;|--|\/\*)/;

/** The statement without its end: semicolons, spaces and comments after its last word. */
export function withoutEnd(statement: string): string {
  let end = 0;
  for (let at = 0; at < statement.length; ) {
    TOKEN.lastIndex = at;
    const [token = ''] = TOKEN.exec(statement) ?? [];
    at += token === '/*' ? commentLength(statement.slice(at)) : token.length;
    if (!ENDING.test(token)) end = at;
  }
  return statement.slice(0, end);
}

/** The length of a block comment. These comments nest. */
function commentLength(text: string): number {
  let depth = 0;
  for (const { 0: delimiter, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += delimiter === '/*' ? 1 : -1;
    if (depth === 0) return index + delimiter.length;
  }
  return text.length;
}
