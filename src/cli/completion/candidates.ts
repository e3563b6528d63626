/** Candidates for the completion of a command line, derived from the declarations of the commands. Pure. */
import { answeredOptions, type Command, commonOptions, type Options, type Positional } from '../command.ts';

export interface CompletionWord {
  readonly word: string;
  readonly about: string;
}

/** The kind of paths that the shell completes itself. */
export type Paths = 'files' | 'folders';

export interface CompletionOffer {
  readonly candidates: readonly CompletionWord[];
  readonly paths?: Paths;
  /** Names that complete the word: of endpoints, of tables and views, or of syncs in the config of the command line, if any. */
  readonly names?: {
    readonly kind: NonNullable<Positional['completes']>;
    readonly config: string | undefined;
    readonly typed: readonly string[];
    readonly prefix: string;
  };
}

const NOTHING: CompletionOffer = { candidates: [] };

/** The options that every command accepts in addition to its own. */
const everywhere: Options = {
  ...commonOptions,
  help: answeredOptions.help,
};

/** The candidates for the last of the words after the name of the program, which can be empty. */
export function offerFor(typed: readonly string[], commands: readonly Command[]): CompletionOffer {
  const words = joined(typed);
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const commandIndex = before.findIndex((word) => !word.startsWith('-'));
  if (commandIndex < 0) return beforeCommand(before, current, commands);
  const command = commands.find(({ name }) => name === before[commandIndex]);
  return command ? afterCommand(command, before, commandIndex, current) : NOTHING;
}

/** The words, with those rejoined that the shell split at `=`. */
function joined(words: readonly string[]): string[] {
  const result: string[] = [];
  for (const word of words) {
    const last = result.at(-1) ?? '';
    const isPart = word === '=' ? /^--[^=]+$/.test(last) : /^--[^=]+=$/.test(last);
    if (isPart) result[result.length - 1] = last + word;
    else result.push(word);
  }
  return result;
}

function beforeCommand(before: readonly string[], current: string, commands: readonly Command[]): CompletionOffer {
  if (current.startsWith('-')) {
    return {
      candidates: flags({ ...everywhere, ...answeredOptions }, before, current),
    };
  }
  const listed = commands.filter(({ hidden }) => hidden !== true);
  return {
    candidates: begun(
      current,
      listed.map(({ name, summary }) => ({ word: name, about: summary })),
    ),
  };
}

function afterCommand(
  command: Command,
  before: readonly string[],
  commandIndex: number,
  current: string,
): CompletionOffer {
  const options: Options = { ...command.options, ...everywhere };
  const { plain, pending, config, isOver } = read(before, commandIndex, options);
  if (pending !== undefined) return { candidates: [], ...pathsOf(pending) };
  if (!isOver && current.startsWith('--') && current.includes('=')) {
    return { candidates: [], ...pathsOf(options[flagOf(current)]) };
  }
  if (!isOver && current.startsWith('-')) return { candidates: flags(options, before, current) };
  const positional = positionalAt(Object.values(command.positionals), plain.length);
  if (positional?.completes !== undefined) {
    return { candidates: [], names: { kind: positional.completes, config, typed: plain, prefix: current } };
  }
  return {
    candidates: begun(
      current,
      (positional?.choices ?? []).map((word) => ({ word, about: '' })),
    ),
  };
}

interface Read {
  /** The words that are neither the command nor a flag or its value. */
  readonly plain: readonly string[];
  /** The flag whose value is the current word. */
  readonly pending: Options[string] | undefined;
  readonly config: string | undefined;
  /** True after `--`, which ends the flags. */
  readonly isOver: boolean;
}

function read(before: readonly string[], commandIndex: number, options: Options): Read {
  const plain: string[] = [];
  let name: string | undefined;
  let config: string | undefined;
  let isOver = false;
  for (const [index, word] of before.entries()) {
    if (index === commandIndex) continue;
    if (name !== undefined) {
      if (name === 'config') config = word;
      name = undefined;
    } else if (isOver || !word.startsWith('-')) plain.push(word);
    else if (word === '--') isOver = true;
    else if (word.startsWith('--config=')) config = word.slice('--config='.length);
    else if (!word.includes('=') && options[flagOf(word)]?.value !== undefined) name = flagOf(word);
  }
  return { plain, pending: name === undefined ? undefined : options[name], config, isOver };
}

const flagOf = (word: string): string => word.replace(/^--/, '').split('=')[0] ?? '';

const positionalAt = (positionals: readonly Positional[], index: number): Positional | undefined =>
  positionals[index] ?? (positionals.at(-1)?.takes === 'many' ? positionals.at(-1) : undefined);

const PATHS: Readonly<Record<string, Paths>> = { FILE: 'files', DIR: 'folders' };
function pathsOf(option: Options[string] | undefined): { readonly paths?: Paths } {
  const paths = PATHS[option?.value ?? ''];
  return paths === undefined ? {} : { paths };
}

/** The flags that are not on the command line yet. */
const flags = (options: Options, typed: readonly string[], current: string): CompletionWord[] =>
  begun(
    current,
    Object.entries(options)
      .map(([name, { about }]) => ({ word: `--${name}`, about }))
      .filter(({ word }) => !typed.some((it) => it === word || it.startsWith(`${word}=`))),
  );

const begun = (current: string, candidates: readonly CompletionWord[]): CompletionWord[] =>
  candidates.filter(({ word }) => word.startsWith(current));
