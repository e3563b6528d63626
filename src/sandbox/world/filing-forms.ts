/** Form types: how common each is in each season, its documents, and how filters match forms. */
import { weighted } from './draw.ts';

interface Form {
  readonly type: string;
  /** The weight outside of the season of annual reports, and in it. */
  readonly usual: number;
  readonly annual: number;
  /** Documents: file name and description. `*` in a name is replaced by the filer's handle. */
  readonly documents: readonly (readonly [file: string, description: string | null])[];
}

const form = (type: string, usual: number, annual: number, ...documents: Form['documents']): Form => ({
  type,
  usual,
  annual,
  documents,
});

const CERTIFIED = [
  ['ex31-1.htm', 'EX-31.1'],
  ['ex32-1.htm', 'EX-32.1'],
] as const;

export const FORMS: readonly Form[] = [
  form('4', 340, 340, ['primary_doc.xml', null]),
  form('4/A', 10, 10, ['primary_doc.xml', null]),
  form('3', 25, 25, ['primary_doc.xml', null]),
  form('8-K', 210, 210, ['*-8k.htm', '8-K'], ['ex99-1.htm', 'EX-99.1'], ['ex99-2.htm', 'EX-99.2']),
  form('8-K/A', 10, 10, ['*-8ka.htm', '8-K/A']),
  form('10-Q', 110, 20, ['*-10q.htm', '10-Q'], ...CERTIFIED),
  form('10-Q/A', 6, 6, ['*-10qa.htm', '10-Q/A'], ...CERTIFIED),
  form('10-K', 12, 170, ['*-10k.htm', '10-K'], ['ex21-1.htm', 'EX-21.1'], ['ex23-1.htm', 'EX-23.1'], ...CERTIFIED),
  form('10-K/A', 8, 14, ['*-10ka.htm', '10-K/A'], ['ex31-1.htm', 'EX-31.1']),
  form('DEF 14A', 30, 60, ['*-def14a.htm', 'DEFINITIVE PROXY STATEMENT']),
  form('S-1', 18, 14, ['*-s1.htm', 'S-1'], ['ex5-1.htm', 'EX-5.1'], ['ex23-1.htm', 'EX-23.1']),
  form('S-1/A', 14, 10, ['*-s1a.htm', 'S-1/A']),
  form('S-8', 20, 20, ['*-s8.htm', 'S-8'], ['ex5-1.htm', 'EX-5.1']),
  form('SC 13G', 60, 60, ['*-sc13g.htm', 'SC 13G']),
  form('SC 13D', 25, 25, ['*-sc13d.htm', 'SC 13D']),
  form('424B2', 70, 70, ['*-424b2.htm', '424B2']),
  form('6-K', 50, 50, ['*-6k.htm', '6-K'], ['ex99-1.htm', 'EX-99.1']),
  form('20-F', 6, 12, ['*-20f.htm', '20-F'], ...CERTIFIED),
];

const usualAt = weighted(FORMS.map(({ usual }) => usual));
const annualAt = weighted(FORMS.map(({ annual }) => annual));

/** The index in `FORMS` for a draw; annual reports are filed in February and March. */
export const formAt = (drawn: number, month: number): number =>
  month === 2 || month === 3 ? annualAt(drawn) : usualAt(drawn);

/**
 * True if a filter entry matches a form. An entry includes amendments: `4` returns 4/A too, and `-10-K` excludes 10-K/A
 * too.
 */
const matches = (wanted: string, type: string): boolean => type === wanted || type === `${wanted}/A`;

/** A flag by index for the forms that match a filter; undefined if all match. */
export function formMarks(filter: readonly string[]): Uint8Array | undefined {
  const entries = filter.map((entry) => entry.trim().toUpperCase()).filter((entry) => entry !== '');
  const excluded = entries.filter((entry) => entry.startsWith('-')).map((entry) => entry.slice(1));
  const wanted = entries.filter((entry) => !entry.startsWith('-'));
  if (entries.length === 0) return undefined;
  return Uint8Array.from(FORMS, ({ type }) => {
    const named = wanted.length === 0 || wanted.some((entry) => matches(entry, type));
    return named && !excluded.some((entry) => matches(entry, type)) ? 1 : 0;
  });
}
