/** What may come next on a command line that is being typed, from the declarations of the commands. Pure. */
import { type Command, commonOptions, type Options, type Positional } from '../command.ts';

export interface CompletionWord {
  readonly word: string;
  readonly about: string;
}

/** What the shell offers by itself. */
export type Paths = 'files' | 'folders';

export interface CompletionOffer {
  readonly candidates: readonly CompletionWord[];
  readonly paths?: Paths;
  /** Names are wanted: of endpoints, or of the syncs of the config that the line names, if it names one. */
  readonly names?: {
    readonly kind: NonNullable<Positional['completes']>;
    readonly config: string | undefined;
    readonly typed: readonly string[];
    readonly prefix: string;
  };
}

const NOTHING: CompletionOffer = { candidates: [] };

/** Every command takes these besides what it declares. */
const everywhere: Options = {
  ...commonOptions,
  help: { type: 'flag', about: 'Show what a command does and takes.' },
};

/** The offer for the words after the program's name; the last of them is being typed and may be empty. */
export function offerFor(typed: readonly string[], commands: readonly Command[]): CompletionOffer {
  const words = joined(typed);
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const at = before.findIndex((word) => !word.startsWith('-'));
  if (at < 0) return beforeCommand(before, current, commands);
  const command = commands.find(({ name }) => name === before[at]);
  return command ? afterCommand(command, before, at, current) : NOTHING;
}

/** Some shells part a word at its `=`. */
function joined(words: readonly string[]): string[] {
  const whole: string[] = [];
  for (const word of words) {
    const last = whole.at(-1) ?? '';
    const isPart = word === '=' ? /^--[^=]+$/.test(last) : /^--[^=]+=$/.test(last);
    if (isPart) whole[whole.length - 1] = last + word;
    else whole.push(word);
  }
  return whole;
}

function beforeCommand(before: readonly string[], current: string, commands: readonly Command[]): CompletionOffer {
  if (current.startsWith('-')) {
    return {
      candidates: flags({ ...everywhere, version: { type: 'flag', about: 'Show the version.' } }, before, current),
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

function afterCommand(command: Command, before: readonly string[], at: number, current: string): CompletionOffer {
  const options: Options = { ...command.options, ...everywhere };
  const { plain, pending, config, isOver } = read(before, at, options);
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
  /** Words that are neither the command nor of a flag. */
  readonly plain: readonly string[];
  /** The flag whose value is being typed. */
  readonly pending: Options[string] | undefined;
  readonly config: string | undefined;
  /** Flags are over: there was a `--`. */
  readonly isOver: boolean;
}

function read(before: readonly string[], at: number, options: Options): Read {
  const plain: string[] = [];
  let name: string | undefined;
  let config: string | undefined;
  let isOver = false;
  for (const [place, word] of before.entries()) {
    if (place === at) continue;
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

const positionalAt = (positionals: readonly Positional[], at: number): Positional | undefined =>
  positionals[at] ?? (positionals.at(-1)?.takes === 'many' ? positionals.at(-1) : undefined);

const PATHS: Readonly<Record<string, Paths>> = { FILE: 'files', DIR: 'folders' };
function pathsOf(option: Options[string] | undefined): { readonly paths?: Paths } {
  const paths = PATHS[option?.value ?? ''];
  return paths === undefined ? {} : { paths };
}

/** The flags that were not said yet. */
const flags = (options: Options, said: readonly string[], current: string): CompletionWord[] =>
  begun(
    current,
    Object.entries(options)
      .map(([name, { about }]) => ({ word: `--${name}`, about }))
      .filter(({ word }) => !said.some((it) => it === word || it.startsWith(`${word}=`))),
  );

const begun = (current: string, candidates: readonly CompletionWord[]): CompletionWord[] =>
  candidates.filter(({ word }) => word.startsWith(current));
