/** The text of a config file and the places in it: offsets become lines and columns, and a line can be shown with a caret. */

/** A part of the text, in UTF-16 code units; `end` is not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The place of what concerns the whole file. */
export const WHOLE_FILE: Span = { start: 0, end: 0 };

export interface SourceFile {
  /** The file's name as its reader gave it. */
  readonly file: string;
  readonly text: string;
  /** Offset of the first character of each line. */
  readonly lineStarts: readonly number[];
}

/** Line and column, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The source of a text, ready to look up places in. */
export function sourceOf(file: string, text: string): SourceFile {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return { file, text, lineStarts };
}

/** Where an offset is. */
export function positionOf({ lineStarts }: SourceFile, offset: number): Position {
  let [low, high] = [0, lineStarts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

/** `file:line:column` of an offset, as editors and terminals link it. */
export function locationOf(source: SourceFile, offset: number): string {
  const { line, column } = positionOf(source, offset);
  return `${source.file}:${line}:${column}`;
}

const WIDEST = 120;

/** The line that a span begins in, with a caret under the span; without the secrets that people write into such lines. */
export function excerptOf(source: SourceFile, span: Span): string {
  const { line, column } = positionOf(source, span.start);
  const whole = lineOf(source, line);
  if (whole === '') return '';
  const cut = Math.max(0, Math.min(column - 1 - WIDEST / 2, whole.length - WIDEST));
  const shown = whole.slice(cut, cut + WIDEST);
  const width = Math.max(1, Math.min(span.end - span.start, shown.length - (column - 1 - cut)));
  const before = shown.slice(0, column - 1 - cut).replace(/[^\t]/g, ' ');
  const margin = `${line}`;
  return `  ${margin} | ${shown}\n  ${' '.repeat(margin.length)} | ${before}${'^'.repeat(width)}`;
}

/** Masked lines by number: thousands of problems may stand in one line of a million characters. */
const lines = new WeakMap<SourceFile, Map<number, string>>();

function lineOf(source: SourceFile, line: number): string {
  const known = lines.get(source) ?? new Map<number, string>();
  lines.set(source, known);
  const found = known.get(line);
  if (found !== undefined) return found;
  const start = source.lineStarts[line - 1] ?? 0;
  const end = source.lineStarts[line] ?? source.text.length + 1;
  const text = masked(source.text.slice(start, end - 1).trimEnd());
  known.set(line, text);
  return text;
}

// The bounds keep the time of a search in proportion to the text.
const WEB_LOGIN = /(\bhttps?:\/\/)([^\s/@]{1,500})(?=@)/gi;
/** A password of a database may hold any character, whether or not an address allows it. */
const OTHER_LOGIN = /((?<!\bhttps?):\/\/)(\S{1,500})(?=@)/gi;
/** Values of these keys, and of what they get misspelled to, are secrets. */
const SECRET_KEY =
  /(\b\w{0,30}(?:tok|secret|pas+(?:w|phr)|pwd|api_?key|credential|auth)\w{0,30}["']?\s{0,9}:\s{0,9})([^\s$#][^#]*)/i;

/** A text without logins of addresses and values of secret keys; of the same length, so that a caret below it stays in place. */
export function masked(text: string): string {
  const hide = (_: string, before: string, secret: string): string => before + '*'.repeat(secret.length);
  return text.replace(WEB_LOGIN, hide).replace(OTHER_LOGIN, hide).replace(SECRET_KEY, hide);
}
