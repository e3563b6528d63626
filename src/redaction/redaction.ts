/**
 * Takes secrets out of text in whatever way they are written there: as they are, escaped as JSON, URLs, web pages, mail
 * and programs do, in base64 or hex, wrapped over lines, and in mixtures of these. The time grows with the length of
 * the text alone, whatever is in it.
 */
import { formsOf, type Forms, SHORTEST_SECRET } from './forms.ts';
import { apart, joined, readingForms, type TextReading, decodedForms } from './readings.ts';

/** The text without the secrets that the redaction knows. */
export type Redaction = (text: string) => string;

/** How often what is left is looked through again; a text that holds a secret still is given up whole. */
const MOST_PASSES = 3;

/** A redaction that puts `instead` in the place of each of the secrets. Values of under 4 characters are no secrets. */
export function redactionOf(secrets: readonly string[], instead: string): Redaction {
  const forms = formsOf(secrets.filter(({ length }) => length >= SHORTEST_SECRET));
  if (!forms) return (text) => text;
  return (text) => {
    let left = text;
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      if (left.length < forms.shortest || !isFound(left, forms)) return left;
      left = replaced(left, rangesIn(left, forms), instead);
    }
    return isFound(left, forms) ? instead : left;
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** True of bytes in hex with something between them. */
const HEX_APART = /(?:[0-9a-f]{2,8}[\s:-]+){3}/i;

function isFound(text: string, { needles }: Forms): boolean {
  const isAny = (texts: readonly string[], within: string): boolean => texts.some((it) => within.includes(it));
  for (const state of decodedForms(text, false)) {
    if (isAny(needles.plain, state.text) || isAny(needles.folded, state.text.toLowerCase())) return true;
    const whole = joined(state);
    if (isAny(needles.base64, whole.text)) return true;
    const lower = whole.text.toLowerCase();
    if (isAny(needles.joined, lower) || isAny(needles.hex, lower)) return true;
    if (needles.hex.length > 0 && HEX_APART.test(state.text) && isAny(needles.hex, apart({ text: lower }).text))
      return true;
  }
  return false;
}

/** Where the secrets are in the text, in order and without overlaps. */
function rangesIn(text: string, forms: Forms): Range[] {
  const ranges: Range[] = [];
  for (const state of decodedForms(text, true))
    for (const reading of readingForms(state))
      for (const { from, to } of found(reading, forms))
        ranges.push({ from: reading.starts?.[from] ?? from, to: reading.ends?.[to - 1] ?? to });
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from < last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** Where one reading of a text holds secrets. */
function* found({ text, as }: TextReading, forms: Forms): Generator<Range> {
  for (const pattern of forms[as])
    for (const { index, 0: match } of text.matchAll(pattern)) yield { from: index, to: index + match.length };
}

function replaced(text: string, ranges: readonly Range[], instead: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of ranges) {
    parts.push(text.slice(at, from), instead);
    at = to;
  }
  return parts.join('') + text.slice(at);
}
