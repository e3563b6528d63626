/** The rules for prose that a program can check, and the sentences of Markdown and of comments that they apply to. */

/** A piece of text that is written as a unit: a paragraph, a list item, a heading or a table cell. */
interface Block {
  readonly line: number;
  readonly text: string;
  /** Fragments such as headings and cells may be short, so they have no part in the average. */
  readonly isProse: boolean;
}

export interface Sentence {
  readonly line: number;
  readonly text: string;
  readonly words: number;
  readonly isProse: boolean;
}

export const MOST_WORDS = 40;
export const MOST_WORDS_ON_AVERAGE = 20;

const OPENINGS: readonly RegExp[] = [
  /^(?:Of|That|Whoever|Nor|Else)\b/,
  /^What\b[^?]*\b(?:is|are)\b[^?]*$/,
  /^So\b[^,.]*\bthat\b/,
];

/** Each with the plain term to use instead. */
const WORDS: Readonly<Record<string, string>> = {
  'tells?|telling|told': 'prints, shows, reports; reported, returned',
  asked: 'requested',
  stands: 'is, exists',
  rests: 'is stored',
  'by then': 'when, already',
  'in the instant': 'immediately',
  'reckon\\w*': 'expect, calculate',
  'bears?': 'tolerate',
  seldom: 'rarely',
  'as things stand|how things stand': 'currently; status',
  'for want of': 'without',
  'com(?:es?|ing) to': 'results in',
  'in hand': 'in progress',
  '(?:goes|go|went|going) on': 'continues',
  'put back': 'requeued, restored',
  'keeps? the clock': 'runs the scheduler',
  'trouble that passes': 'transient errors',
  'mend(?:s|ed)?': 'fix',
  'l(?:ies|ie|ay) in': 'is in',
  'heed(?:s|ed)?': 'respect',
  'whole(?! numbers?\\b)': 'complete',
  'whoever|whomever': 'the domain noun: caller, worker, process, person',
  'somebody|nobody': 'the domain noun: caller, worker, process, person',
  purse: 'reservations',
  '(?:for|by|of) which': 'a sentence of its own',
};

const BANNED = Object.entries(WORDS).map(
  ([word, plain]) => [new RegExp(String.raw`(?<![\w-])(?:${word})(?![\w-])`, 'i'), plain] as const,
);

/** What breaks a rule in the page, one line each; empty for a page in plain English. */
export function offencesIn(markdown: string): string[] {
  const sentences = sentencesOf(markdown);
  const prose = sentences.filter(({ isProse }) => isProse);
  const average = prose.reduce((sum, { words }) => sum + words, 0) / Math.max(1, prose.length);
  return [
    ...sentences.flatMap(({ line, ...sentence }) => offencesOf(sentence).map((it) => `line ${line}: ${it}`)),
    ...(average > MOST_WORDS_ON_AVERAGE ? [`${average.toFixed(1)} words a sentence on average`] : []),
  ];
}

/** What breaks a rule in the comments of a source file, one line each; a comment's average length does not count. */
export function offencesInComments(source: string): string[] {
  return commentsOf(source).flatMap(({ line, text }) =>
    sentencesOf(text).flatMap((sentence) =>
      offencesOf(sentence).map((it) => `line ${line + sentence.line - 1}: ${it}`),
    ),
  );
}

/** The comments that begin a line, without their marks, each with its first line. */
function commentsOf(source: string): { readonly line: number; readonly text: string }[] {
  return [...source.matchAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*)/gm)].map((found) => ({
    line: source.slice(0, found.index).split('\n').length,
    text: found[0].replaceAll(/^[ \t]*(?:\/\*+|\*\/|\*|\/\/) ?/gm, '').replaceAll(/ *\*\/$/gm, ''),
  }));
}

function offencesOf({ text, words }: Omit<Sentence, 'line'>): string[] {
  const found = BANNED.flatMap(([pattern, plain]) => {
    const word = pattern.exec(text)?.[0];
    return word === undefined ? [] : [`"${word}" (write: ${plain}) in "${text}"`];
  });
  return [
    ...(OPENINGS.some((opening) => opening.test(text)) ? [`the opening of "${text}"`] : []),
    ...found,
    ...(words > MOST_WORDS ? [`${words} words in "${text}"`] : []),
  ];
}

/** Every sentence of the page outside of code. */
export const sentencesOf = (markdown: string): Sentence[] =>
  blocksOf(markdown).flatMap(({ line, text, isProse }) =>
    text
      .split(/(?<=[.!?][)”"]?)\s+(?=[\p{Lu}\p{N}`“"(])/u)
      .map((sentence) => sentence.trim())
      .filter((sentence) => /\p{L}/u.test(sentence))
      .map((sentence) => ({ line, text: sentence, words: wordsIn(sentence), isProse })),
  );

const wordsIn = (sentence: string): number => sentence.match(/[\p{L}\p{N}`][^\s/]*/gu)?.length ?? 0;

/** Code becomes one word, links their text; comments and emphasis go. */
const plainOf = (text: string): string =>
  text
    .replaceAll(/``.*?``|`[^`]*`/g, '`code`')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('**', '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const ITEM = /^\s*(?:[-*]|\d+\.)\s+/;

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  let open: { line: number; lines: string[] } | undefined;
  const close = (): void => {
    if (open) blocks.push({ line: open.line, text: plainOf(open.lines.join(' ')), isProse: true });
    open = undefined;
  };
  for (const [index, content] of markdown
    .replaceAll(/<!--[\s\S]*?-->/g, keepLines)
    .split('\n')
    .entries()) {
    const line = index + 1;
    if (/^\s*```/.test(content)) {
      close();
      isCode = !isCode;
    } else if (isCode) continue;
    else if (content.trim() === '') close();
    else if (content.startsWith('#')) {
      close();
      blocks.push({ line, text: plainOf(content.replace(/^#+\s*/, '')), isProse: false });
    } else if (content.startsWith('|')) {
      close();
      blocks.push(...cellsOf(content).map((text) => ({ line, text, isProse: false })));
    } else if (ITEM.test(content) || !open) {
      close();
      open = { line, lines: [content.replace(ITEM, '')] };
    } else open.lines.push(content);
  }
  close();
  return blocks;
}

/** A cell may hold a list, whose items are separated by semicolons. */
const cellsOf = (row: string): string[] =>
  plainOf(row.replaceAll(String.raw`\|`, ' '))
    .split(/[|;]/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');

const keepLines = (comment: string): string => comment.replaceAll(/[^\n]/g, '');
