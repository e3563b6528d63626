/** Texts of strangers that try to be more than text, and a report that is full of them. */
import type { Report } from '../../src/report/report.ts';

/** Breaks out of elements, attributes, comments, styles and scripts; turns lines round; talks to terminals. */
export const HOSTILE: readonly string[] = [
  '<script>document.title="pwned"</script>',
  '</title></style></script><script>document.title="pwned"</script>',
  '"><img src=x onerror=document.title="pwned">',
  "' onfocus='document.title=1' autofocus='",
  '<svg/onload=document.title="pwned">',
  '</svg></td></table></details></main><iframe srcdoc="<script>1</script>">',
  '--><!--<![CDATA[ ]]>',
  '&lt;script&gt;&#60;b&#62;&amp;amp;',
  '`${document.title="pwned"}`',
  'javascript:document.title="pwned"',
  '<a href="javascript:1">x</a><base href="https://evil.example/"><meta http-equiv=refresh content="0;url=//evil.example">',
  '<style>*{background:url(https://evil.example/)}</style>',
  'a\u202egpj.exe\u2066\u2069\u200f\u061c',
  '\u001b[2J\u001b]0;owned\u0007\u009b31m',
  'line\r\nbreak\ttab\u0085\u2028\u2029',
  'half \ud83d of, \udc00 of, and a whole 😀',
  'nul \u0000 and \ufeff mark',
  'مرحبا שלום',
  'x'.repeat(600),
  '',
];

/** Words that the page itself looks up or reckons with, and numbers. */
const KEPT = ['days', 'byDay', 'state', 'runsOutOn', 'answerId'];

/** The same report with hostile texts for every name, input and reason. */
export function made(hostile: string, report: Report): Report {
  return turned(report, hostile) as Report;
}

function turned(value: unknown, hostile: string): unknown {
  if (typeof value === 'string') return `${hostile}${value}`;
  if (Array.isArray(value)) return value.map((it) => turned(it, hostile));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [name, KEPT.includes(name) ? (it as unknown) : turned(it, hostile)]),
  );
}
