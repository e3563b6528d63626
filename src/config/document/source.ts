/** The text of a config file: converts offsets to lines and columns, and shows a line with a caret. */
import { LineCounter } from 'yaml';
import { memoizeByObject } from '../../async/memoize.ts';

/** A range of the text in UTF-16 code units, without `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The position of a problem that concerns the complete file. */
export const WHOLE_FILE: Span = { start: 0, end: 0 };

export interface SourceFile {
  /** The file's name as the caller passed it. */
  readonly file: string;
  readonly text: string;
  /** The offsets at which lines begin. */
  readonly lines: LineCounter;
}

/** Line and column, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The source of a text, with an index of its lines. */
export function sourceOf(file: string, text: string): SourceFile {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  return { file, text, lines };
}

/** The line and column of an offset. */
export function positionOf({ lines }: SourceFile, offset: number): Position {
  const { line, col: column } = lines.linePos(offset);
  return { line, column };
}

/** `file:line:column` of an offset. Editors and terminals link this form. */
export function locationOf(source: SourceFile, offset: number): string {
  const { line, column } = positionOf(source, offset);
  return `${source.file}:${line}:${column}`;
}

const WIDEST = 120;

/** The line in which a span begins, with secrets masked and carets under the span. */
export function excerptOf(source: SourceFile, span: Span): string {
  const { line, column } = positionOf(source, span.start);
  const text = lineOf(source, line);
  if (text === '') return '';
  const cut = Math.max(0, Math.min(column - 1 - WIDEST / 2, text.length - WIDEST));
  const shown = text.slice(cut, cut + WIDEST);
  const width = Math.max(1, Math.min(span.end - span.start, shown.length - (column - 1 - cut)));
  const before = shown.slice(0, column - 1 - cut).replace(/[^\t]/g, ' ');
  const margin = `${line}`;
  return `  ${margin} | ${shown}\n  ${' '.repeat(margin.length)} | ${before}${'^'.repeat(width)}`;
}

/**
 * Masked lines by number. The cache matters because one line of a million characters may have thousands of problems.
 */
const maskedLines = memoizeByObject<SourceFile, Map<number, string>>(() => new Map());

function lineOf(source: SourceFile, line: number): string {
  const { lineStarts } = source.lines;
  const start = lineStarts[line - 1] ?? 0;
  const end = lineStarts[line] ?? source.text.length + 1;
  const cached = maskedLines(source);
  const text = cached.get(line) ?? masked(source.text.slice(start, end - 1).trimEnd());
  cached.set(line, text);
  return text;
}

// The length limits keep the search time proportional to the text.
const WEB_LOGIN = /(\bhttps?:\/\/)([^\s/@]{1,500})(?=@)/gi;
/** A database password may contain any character, even those that an address does not allow. */
const OTHER_LOGIN = /((?<!\bhttps?):\/\/)(\S{1,500})(?=@)/gi;
/** Secret parameters of addresses, with all that follows. */
const PARAMETERS = /([?&]\w{0,30}(?:tok|secret|pas+(?:w|phr)|pwd|key(?!word)|credential|auth)\w{0,30}=)([^\s"']+)/gi;
/**
 * The values of these keys and of their misspellings are secrets, with all that follows: a secret may contain any character.
 * A variable without a default value is none.
 */
const SECRET_KEY =
  /(\b\w{0,30}(?:tok|secret|pas+(?:w|phr)|pwd|api_?key|credential|auth|webhook)\w{0,30}["']?\s{0,9}:\s{0,500})(?!["']?\$\{\w{0,99}(?:\}|$)["']?\s*(?:[,}]+(?:\s|$)|\s#|$))([^\s#].*)/i;

/**
 * The text with asterisks for logins and secrets in addresses, and values of secret keys. The length stays, so carets stay aligned.
 */
export function masked(text: string): string {
  const hide = (_: string, before: string, secret: string): string => before + '*'.repeat(secret.length);
  return text.replace(WEB_LOGIN, hide).replace(OTHER_LOGIN, hide).replace(PARAMETERS, hide).replace(SECRET_KEY, hide);
}
