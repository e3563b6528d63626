/** Sentences for posts, pages and profiles. */
import { type Draw, pick } from '../draw.ts';

const OPENINGS: readonly string[] = [
  'After three years of work,',
  'This spring,',
  'To everyone who asked:',
  'In our experience,',
  'On most mornings,',
  'Against all advice,',
  'For the first time,',
  'With a small team,',
  'Between two meetings,',
  'Looking back,',
];
const SUBJECTS: readonly string[] = [
  'the data platform',
  'our oldest pipeline',
  'a quiet coastal town',
  'the new roastery',
  'every second customer',
  'the research group',
  'a single spreadsheet',
  'the night train to the north',
  'our open source project',
  'the harbour market',
];
const VERBS: readonly string[] = [
  'turned out to be faster than',
  'has outgrown',
  'quietly replaced',
  'keeps surprising',
  'taught us more than',
  'was rebuilt beside',
  'still depends on',
  'now feeds',
  'will soon connect',
  'finally explains',
];
const OBJECTS: readonly string[] = [
  'what we had planned',
  'the whole department',
  'a hundred small reports',
  'the previous generation of tools',
  'the path along the river',
  'an honest budget',
  'half of the warehouse',
  'the slowest query of the day',
  'last year’s harvest',
  'anything on the roadmap',
];
const CLOSINGS: readonly string[] = [
  ', and nobody misses the old way.',
  '.',
  '; details are below.',
  ' 🚀',
  ', “as promised”.',
  '. Café talk, nothing more.',
  ', which we measured twice.',
  '…',
];

/** One sentence, equal for equal index and slot. */
export const sentence = (draw: Draw, index: number, slot = 0): string =>
  `${pick(OPENINGS, draw(index, slot * 5))} ${pick(SUBJECTS, draw(index, slot * 5 + 1))} ${pick(VERBS, draw(index, slot * 5 + 2))} ${pick(OBJECTS, draw(index, slot * 5 + 3))}${pick(CLOSINGS, draw(index, slot * 5 + 4))}`;

/** Several consecutive sentences. */
export const paragraph = (draw: Draw, index: number, sentences: number, slot = 0): string =>
  Array.from({ length: sentences }, (_, at) => sentence(draw, index, slot + at)).join(' ');

/** The text in lower-case ASCII letters, digits and hyphens, for handles in addresses. */
export const slugOf = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[łŁ]/g, 'l')
    .replaceAll(/[øØ]/g, 'o')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** The words of a text in lower case, for the comparison of exact words. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** True if the words occur in the text consecutively. */
export function holdsWords(text: string, wanted: readonly string[]): boolean {
  return ` ${wordsOf(text).join(' ')} `.includes(` ${wanted.join(' ')} `);
}
