/**
 * Removes secrets from text in any form: plain, escaped as in JSON, URLs, web pages, mail and programs, in base64 or
 * hex, split over lines, and combinations of these. The time depends only on the length of the text.
 */
import { formsOf, type Forms, SHORTEST_SECRET } from './forms.ts';
import { apart, joined, readingForms, type TextReading, decodedForms } from './readings.ts';

/** The text without the secrets of the redaction. */
export type Redaction = (text: string) => string;

/** The maximum number of passes over the remaining text. If a secret is still left, the complete text is replaced. */
const MOST_PASSES = 3;

/** A redaction that replaces each secret by `instead`. Values of less than 4 characters are not secrets. */
export function redactionOf(secrets: readonly string[], instead: string): Redaction {
  const forms = formsOf(secrets.filter(({ length }) => length >= SHORTEST_SECRET));
  if (!forms) return (text) => text;
  return (text) => {
    let remaining = text;
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      if (remaining.length < forms.shortest || !isFound(remaining, forms)) return remaining;
      remaining = replaced(remaining, rangesIn(remaining, forms), instead);
    }
    return isFound(remaining, forms) ? instead : remaining;
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Matches hex bytes with separators between them. */
const HEX_APART = /(?:[0-9a-f]{2,8}[\s:-]+){3}/i;

function isFound(text: string, { needles }: Forms): boolean {
  const isAny = (texts: readonly string[], within: string): boolean => texts.some((it) => within.includes(it));
  for (const state of decodedForms(text, false)) {
    if (isAny(needles.plain, state.text) || isAny(needles.folded, state.text.toLowerCase())) return true;
    const withoutBlanks = joined(state);
    if (isAny(needles.base64, withoutBlanks.text)) return true;
    const lower = withoutBlanks.text.toLowerCase();
    if (isAny(needles.joined, lower) || isAny(needles.hex, lower)) return true;
    if (needles.hex.length > 0 && HEX_APART.test(state.text) && isAny(needles.hex, apart({ text: lower }).text))
      return true;
  }
  return false;
}

/** The positions of the secrets in the text, in order and without overlaps. */
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

/** The positions of secrets in one reading of a text. */
function* found({ text, as }: TextReading, forms: Forms): Generator<Range> {
  for (const pattern of forms[as])
    for (const { index, 0: match } of text.matchAll(pattern)) yield { from: index, to: index + match.length };
}

function replaced(text: string, ranges: readonly Range[], instead: string): string {
  const parts: string[] = [];
  let position = 0;
  for (const { from, to } of ranges) {
    parts.push(text.slice(position, from), instead);
    position = to;
  }
  return parts.join('') + text.slice(position);
}
