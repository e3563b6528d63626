/** Problems of a config file with their positions. All problems of a file are reported together. */
import { UsageError } from '../../errors.ts';
import { excerptOf, positionOf, type Position, type SourceFile, type Span } from './source.ts';

export interface Problem extends Position {
  readonly file: string;
  /** A description of what was found and what is allowed. */
  readonly message: string;
  /** The line with a caret below it; empty if there is no line to show. */
  readonly excerpt: string;
}

/** Records a problem at a position of the file. */
export type ReportProblem = (span: Span, message: string) => void;

/** A problem at a span of a source. */
export const problemAt = (source: SourceFile, span: Span, message: string): Problem => ({
  file: source.file,
  ...positionOf(source, span.start),
  message,
  excerpt: excerptOf(source, span),
});

/** Limit of problems in the message. `problems` has all of them. */
const SHOWN = 50;

/** A config file is not valid. The message lists the problems with their positions. */
export class ConfigError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const files = [...new Set(problems.map(({ file }) => file))];
    const sorted = files.flatMap((file) =>
      problems
        .filter((problem) => problem.file === file)
        .toSorted((a, b) => (a.line === b.line ? a.column - b.column : a.line - b.line)),
    );
    const more = sorted.length - SHOWN;
    const shown = sorted.slice(0, SHOWN).map(problemText);
    super([...shown, ...(more > 0 ? [`and ${more} more problems`] : [])].join('\n'), {
      next: 'Fix the problems above, then run `sluice check`.',
    });
    this.problems = sorted;
  }
}

/** `file:line:column: message`, with the line of the file below. */
const problemText = ({ file, line, column, message, excerpt }: Problem): string =>
  `${file}:${line}:${column}: ${message}${excerpt && `\n${excerpt}`}`;
