/** What is wrong with a config file, with its place; all of a file's problems are told at once. */
import { UsageError } from '../../errors.ts';
import { excerptOf, positionOf, type Position, type SourceFile, type Span } from './source.ts';

export interface Problem extends Position {
  readonly file: string;
  /** What was found, what is allowed. */
  readonly message: string;
  /** The line with a caret below it; empty when there is no line to show. */
  readonly excerpt: string;
}

/** Takes in a problem at a place of the file. */
export type ReportProblem = (span: Span, message: string) => void;

/** A problem at a span of a source. */
export const problemAt = (source: SourceFile, span: Span, message: string): Problem => ({
  file: source.file,
  ...positionOf(source, span.start),
  message,
  excerpt: excerptOf(source, span),
});

/** The longest list that a person reads; `problems` has them all. */
const SHOWN = 50;

/** A config file that can't be used; its message lists every problem with its place. */
export class ConfigError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const sorted = problems.toSorted((a, b) => (a.line === b.line ? a.column - b.column : a.line - b.line));
    const more = sorted.length - SHOWN;
    const shown = sorted.slice(0, SHOWN).map(problemText);
    super([...shown, ...(more > 0 ? [`and ${more} more problems`] : [])].join('\n'), {
      next: 'Mend what is named above, then run `sluice check`.',
    });
    this.problems = sorted;
  }
}

/** `file:line:column: message`, with the line of the file below. */
const problemText = ({ file, line, column, message, excerpt }: Problem): string =>
  `${file}:${line}:${column}: ${message}${excerpt && `\n${excerpt}`}`;
