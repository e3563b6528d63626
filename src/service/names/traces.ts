/** Finds texts that identify a forgotten entity inside other texts, with only salted digests to compare with. */

/** Shorter texts are common words or parts of numbers. */
export const SHORTEST_TRACE = 5;
/** Longer texts are not names. */
const LONGEST_TRACE = 2_100;
/** An address has about ten words, and each further word costs digests. */
const MOST_WORDS = 16;

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
/** A single word of letters may be a first name or an ordinary word. */
const PLAIN = /^[\p{L}\p{M}]{1,7}$/u;

/** Questions that digests can answer. */
export interface TraceDigests {
  /** True if the text identifies a forgotten entity. */
  readonly isTrace: (text: string) => boolean;
  /** True if the word is the first word of such a text. */
  readonly isFirst: (word: string) => boolean;
}

/** The text from its first word to its last, where different spellings agree; undefined if it identifies nothing. */
export function traceOf(text: string): { readonly trace: string; readonly first: string } | undefined {
  if (text.length > LONGEST_TRACE) return undefined;
  const words = [...text.matchAll(WORD)];
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last) return undefined;
  const trace = text.slice(first.index, last.index + last[0].length);
  return Array.from(trace).length < SHORTEST_TRACE ? undefined : { trace, first: first[0] };
}

/** The first word of a text. It rules out most texts. */
const firstWordOf = (text: string): string => FIRST.exec(text)?.[0] ?? '';

const FIRST = /[\p{L}\p{N}\p{M}_]+/u;

/** True if a trace may occur at this position: a short plain word only in a mention or as part of an address. */
export const mayBeTraceAt = (text: string, start: number, end: number): boolean =>
  !PLAIN.test(text.slice(start, end)) || '@/'.includes(text[start - 1] ?? ' ');

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/u;
const isWord = (character: string | undefined): boolean => character !== undefined && WORD_CHARACTER.test(character);
const FILE_ENDING = /^\.(?:jpe?g|png|webp|gif|html?)(?![\p{L}\p{N}_])/u;

/** True if no hyphen or dot joins the words to a longer name. A dot before a file extension does not join. */
const isAlone = (text: string, start: number, end: number): boolean =>
  !('-.'.includes(text[start - 1] ?? ' ') && isWord(text[start - 2])) &&
  !(text[end] === '-' && isWord(text[end + 1])) &&
  !(text[end] === '.' && isWord(text[end + 1]) && !FILE_ENDING.test(text.slice(end, end + 7)));

/** True if the complete text is a trace. */
export const wholeTraces =
  ({ isFirst, isTrace }: TraceDigests): ((text: string) => boolean) =>
  (text) =>
    text.length <= LONGEST_TRACE && isFirst(firstWordOf(text)) && isTrace(traceOf(text)?.trace ?? '');

/** A function that replaces each trace in a text by its pseudonym. */
export function scrubberByDigests(
  known: TraceDigests,
  pseudonymFor: (trace: string) => string,
): (text: string) => string {
  const { isFirst } = known;
  return (text) => {
    const kept: string[] = [];
    let after = 0;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (index < after || !(isFirst(word) || (isInPath(text, index) && isFirst(beforeUnderscore(word))))) continue;
      const end = endOfTrace(text, index, known);
      if (end === undefined) continue;
      kept.push(text.slice(after, index), pseudonymFor(text.slice(index, end)));
      after = end;
    }
    return after === 0 ? text : kept.join('') + text.slice(after);
  };
}

/** The end of the longest trace that begins at `start`. */
function endOfTrace(text: string, start: number, { isTrace }: TraceDigests): number | undefined {
  const ahead = text.slice(start, start + LONGEST_TRACE);
  let found: number | undefined;
  let words = 0;
  for (const { 0: word, index } of ahead.matchAll(WORD)) {
    if ((words += 1) > MOST_WORDS) break;
    const wordAt = start + index;
    const ends = [wordAt + word.length];
    if (isInPath(text, start) && word.includes('_')) ends.unshift(wordAt + beforeUnderscore(word).length);
    for (const end of ends)
      if (isAlone(text, start, end) && mayBeTraceAt(text, start, end) && isTrace(text.slice(start, end))) found = end;
  }
  return found;
}

/** In addresses of posts, the author's alias comes before an underscore and the title. */
const isInPath = (text: string, start: number): boolean => text[start - 1] === '/';
const beforeUnderscore = (word: string): string => word.slice(0, word.includes('_') ? word.indexOf('_') : word.length);

/** The number of distinct texts is small, and each costs a digest. */
const MOST_REMEMBERED = 100_000;
/** Longer texts rarely come again. */
const LONGEST_REMEMBERED = 200;

/** The same function with cached results for short texts. */
export function memoizeByText<Answer extends boolean | string>(
  answerFor: (text: string) => Answer,
): (text: string) => Answer {
  const answers = new Map<string, Answer>();
  return (text) => {
    if (text.length > LONGEST_REMEMBERED) return answerFor(text);
    const before = answers.get(text);
    if (before !== undefined) return before;
    if (answers.size >= MOST_REMEMBERED) answers.clear();
    const answer = answerFor(text);
    answers.set(text, answer);
    return answer;
  };
}
