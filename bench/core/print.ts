/** Results as a table for a terminal and as Markdown, and the missed targets. */
import { type Line, type Measured, reaches } from './benchmark.ts';

/** A benchmark with its result. */
export interface Result extends Measured {
  readonly name: string;
  readonly about: string;
  readonly tookS: number;
}

const HEAD = ['what', 'median', 'spread', 'ratio', 'target', ''];

/** A number with about three significant digits. */
function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function cellsOf(line: Line): string[] {
  const { what, value, unit, spread, ratio, target } = line;
  const met = reaches(line);
  return [
    what,
    `${short(value)} ${unit}`,
    spread === undefined ? '' : `${short(spread[0])} – ${short(spread[1])}`,
    ratio === undefined ? '' : `${short(ratio.value)} ${ratio.of}`,
    target === undefined ? '' : `${target.at === 'least' ? '≥' : '≤'} ${short(target.bound)}`,
    met === undefined ? '' : met ? 'met' : 'SHORT',
  ];
}

/** One benchmark as aligned text. */
export function textOf({ name, about, lines, notes, tookS }: Result): string {
  const rows = [HEAD, ...lines.map(cellsOf)];
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [`${name}: ${about} (${short(tookS)} s)`, ...table, ...notes.map((note) => `  - ${note}`), ''].join('\n');
}

/** One benchmark as a section of Markdown. */
export function markdownOf({ name, about, lines, notes }: Result): string {
  const row = (cells: readonly string[]): string => `| ${cells.map((it) => it.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    `## ${name}`,
    '',
    about,
    '',
    row(HEAD),
    row(HEAD.map(() => '---')),
    ...lines.map((line) => row(cellsOf(line))),
    '',
    ...notes.map((note) => `- ${note}`),
    ...(notes.length > 0 ? [''] : []),
  ].join('\n');
}

/** The lines that miss their targets. */
export const shortfalls = (results: readonly Result[]): string[] =>
  results.flatMap(({ name, lines }) =>
    lines
      .filter((line) => reaches(line) === false)
      .map((line) => {
        const [what = '', median = '', , ratio = '', target = ''] = cellsOf(line);
        return `${name}: ${what}: ${line.target?.of === 'ratio' ? ratio : median}, target ${target}`;
      }),
  );
