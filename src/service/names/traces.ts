/** Texts that identify a forgotten entity, found in other texts where only salted digests of them are known. */

/** Shorter texts are words of many languages and parts of many numbers. */
export const SHORTEST_TRACE = 5;
/** Longer texts are no names. */
const LONGEST_TRACE = 2_100;
/** An address has some ten words; every further one costs digests. */
const MOST_WORDS = 16;

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
/** One word of letters alone may be a first name or an ordinary word. */
const PLAIN = /^[\p{L}\p{M}]{1,7}$/u;

/** Answers by digest. */
export interface TraceDigests {
  /** True of a text that identifies a forgotten entity. */
  readonly isTrace: (text: string) => boolean;
  /** True of the first word of such a text. */
  readonly isFirst: (word: string) => boolean;
}

/** The text from its first word to the end of its last, in which spellings agree; undefined if it identifies nothing. */
export function traceOf(text: string): { readonly trace: string; readonly first: string } | undefined {
  if (text.length > LONGEST_TRACE) return undefined;
  const words = [...text.matchAll(WORD)];
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last) return undefined;
  const trace = text.slice(first.index, last.index + last[0].length);
  return Array.from(trace).length < SHORTEST_TRACE ? undefined : { trace, first: first[0] };
}

/** The first word of a text, by which most texts are ruled out. */
const firstWordOf = (text: string): string => FIRST.exec(text)?.[0] ?? '';

const FIRST = /[\p{L}\p{N}\p{M}_]+/u;

/** True where a trace may stand in running text: a short plain word only as a mention or as a part of an address. */
export const standsThere = (text: string, start: number, end: number): boolean =>
  !PLAIN.test(text.slice(start, end)) || '@/'.includes(text[start - 1] ?? ' ');

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/u;
const isWord = (character: string | undefined): boolean => character !== undefined && WORD_CHARACTER.test(character);
const FILE_ENDING = /^\.(?:jpe?g|png|webp|gif|html?)(?![\p{L}\p{N}_])/u;

/** A hyphen or dot joins words into a longer name; a dot before the ending of a file does not. */
const isAlone = (text: string, start: number, end: number): boolean =>
  !('-.'.includes(text[start - 1] ?? ' ') && isWord(text[start - 2])) &&
  !(text[end] === '-' && isWord(text[end + 1])) &&
  !(text[end] === '.' && isWord(text[end + 1]) && !FILE_ENDING.test(text.slice(end, end + 7)));

/** True of texts that as a whole are a trace. */
export const wholeTraces =
  ({ isFirst, isTrace }: TraceDigests): ((text: string) => boolean) =>
  (text) =>
    text.length <= LONGEST_TRACE && isFirst(firstWordOf(text)) && isTrace(traceOf(text)?.trace ?? '');

/** A function that puts the pseudonym in the place of each trace in a text. */
export function scrubberByDigests(known: TraceDigests, pseudonym: string): (text: string) => string {
  const { isFirst } = known;
  return (text) => {
    const kept: string[] = [];
    let after = 0;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (index < after || !(isFirst(word) || (isInPath(text, index) && isFirst(beforeUnderscore(word))))) continue;
      const end = endOfTrace(text, index, known);
      if (end === undefined) continue;
      kept.push(text.slice(after, index), pseudonym);
      after = end;
    }
    return after === 0 ? text : kept.join('') + text.slice(after);
  };
}

/** Where the longest trace ends that begins here. */
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
      if (isAlone(text, start, end) && standsThere(text, start, end) && isTrace(text.slice(start, end))) found = end;
  }
  return found;
}

/** In addresses of posts a title follows the author's alias after an underscore. */
const isInPath = (text: string, start: number): boolean => text[start - 1] === '/';
const beforeUnderscore = (word: string): string => word.slice(0, word.includes('_') ? word.indexOf('_') : word.length);

/** Words are few, and each costs a digest. */
const MOST_REMEMBERED = 100_000;

/** The same answers, each found once. */
export function remembered(of: (word: string) => boolean): (word: string) => boolean {
  const answers = new Map<string, boolean>();
  return (word) => {
    const before = answers.get(word);
    if (before !== undefined) return before;
    if (answers.size >= MOST_REMEMBERED) answers.clear();
    const answer = of(word);
    answers.set(word, answer);
    return answer;
  };
}
