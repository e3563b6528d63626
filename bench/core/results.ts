/** `RESULTS.md`: a section for each benchmark, with its command. A run by name replaces only its own sections. */
import { markdownOf, type Result } from './print.ts';

const HEAD = '# Results\n\nWritten by `npm run bench`; `README.md` says how to read it.\n';
const END = '## Missed targets\n';

/** The text of the file with this result, in the order of the benchmarks. */
export function withResult(before: string, result: Result, facts: readonly string[], order: readonly string[]): string {
  const sections = new Map(
    before
      .split(/^(?=## )/m)
      .filter((text) => text.startsWith('## ') && !text.startsWith(END))
      .map((text) => [(/^## (.*)/.exec(text)?.[1] ?? '').trim(), text.trimEnd()]),
  );
  sections.set(result.name, [markdownOf(result).trimEnd(), '', ...facts.map((it) => `- ${it}`)].join('\n'));
  const kept = order.flatMap((name) => sections.get(name) ?? []);
  const short = order.flatMap((name) => shortIn(name, sections.get(name) ?? ''));
  const end = short.length > 0 ? short : ['None.'];
  return [HEAD, ...kept.map((it) => `${it}\n`), `${END}\n${end.join('\n')}\n`].join('\n');
}

/** The rows of a section's table that miss their targets. */
const shortIn = (name: string, section: string): string[] =>
  section
    .split('\n')
    .filter((line) => line.endsWith('| SHORT |'))
    .map((line) => {
      const [what = '', median = '', , ratio = '', target = ''] = line.slice(2).split(' | ');
      return `- ${name}: ${what}: ${[median, ratio].filter((it) => it !== '').join(', ')}; target ${target}`;
    });
