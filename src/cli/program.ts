/** Parses a command line into a command with its arguments, or into a request for the help or the version. */
import { parseArgs } from 'node:util';
import { nearest } from '../config/document/nearest.ts';
import { UsageError } from '../errors.ts';
import { onCalendar } from '../day.ts';
import {
  acceptedOptions,
  answeredOptions,
  type Command,
  commonOptions,
  type CommandSummary,
  type Option,
  type Options,
  type Positional,
} from './command.ts';

export type ParsedCommandLine =
  | { readonly kind: 'run'; readonly command: Command; readonly args: Readonly<Record<string, unknown>> }
  /** The help of the command, or of the program. */
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' };

/**
 * What the words request. `commands` are in the order of the help, and those that the words name are loaded. Throws a
 * UsageError for unknown words, with the most similar known word.
 */
export function parseCommandLine(
  words: readonly string[],
  commands: readonly (Command | CommandSummary)[],
): ParsedCommandLine {
  const loaded = commands.filter((it): it is Command => 'options' in it);
  // The options of all loaded commands, because the command may follow an option with its value.
  const options = Object.fromEntries(loaded.flatMap((it) => Object.entries(it.options)));
  const [first, second] = read(words, options).words;
  const name = first === 'help' ? second : first;
  const command = loaded.find((it) => it.name === name);
  if (name !== undefined && !command) throw unknownCommand(name, commands);
  const { flags, words: found } = read(words, command?.options ?? {});
  if (first === 'help' || isOn(flags, 'help')) return { kind: 'help', command };
  if (isOn(flags, 'version')) return { kind: 'version' };
  refuseUnknownFlags(command, flags);
  if (!command) throw noCommand(commands);
  return { kind: 'run', command, args: { ...valuesOf(command, flags), ...wordsOf(command, found.slice(1)) } };
}

interface Flag {
  readonly name: string;
  /** The flag as it is written, such as `-x`. */
  readonly raw: string;
  /** Undefined if no value follows. */
  readonly value: string | undefined;
}

interface CommandLine {
  readonly flags: readonly Flag[];
  /** The words that are neither flags nor their values. */
  readonly words: readonly string[];
}

function read(words: readonly string[], options: Options): CommandLine {
  const types = Object.entries({ ...acceptedOptions, ...commonOptions, ...options }).map(
    ([name, { type }]): [string, ParsedType] => [name, { type: type === 'flag' ? 'boolean' : 'string' }],
  );
  const settings = { options: Object.fromEntries(types), strict: false, allowPositionals: true, tokens: true } as const;
  const { tokens } = parseArgs({ ...settings, args: [...words] });
  return {
    flags: tokens.flatMap((token) => {
      if (token.kind !== 'option' || isText(token)) return [];
      const { name, rawName: raw, value, inlineValue } = token;
      // After an option, the parser takes any word as its value.
      const isFlag = inlineValue === false && /^-[-a-z]/i.test(value);
      return [{ name, raw, value: isFlag ? undefined : value }];
    }),
    words: tokens.flatMap((token) => {
      if (token.kind === 'positional') return [token.value];
      return isText(token) ? [words[token.index] ?? ''] : [];
    }),
  };
}

/** True for SQL that begins with a comment, such as `-- users`: the name of a flag has no blank. */
const isText = (token: { readonly kind: string; readonly name?: string }): boolean =>
  token.kind === 'option' && /\s/.test(token.name ?? '');

type ParsedType = { readonly type: 'boolean' | 'string' };

const isOn = (flags: readonly Flag[], name: keyof typeof answeredOptions): boolean =>
  flags.some((flag) => flag.name === name && flag.value !== 'false');

/** The values of the options as the command declares them. If an option is repeated, the last value counts. */
function valuesOf(command: Command, flags: readonly Flag[]): Readonly<Record<string, unknown>> {
  const options: Options = { ...acceptedOptions, ...commonOptions, ...command.options };
  const values = new Map<string, unknown>(
    Object.entries(options).map(([name, { type }]) => [name, type === 'flag' ? false : undefined]),
  );
  for (const flag of flags) {
    const option = options[flag.name];
    if (option) values.set(flag.name, valueOf(command, option, flag));
  }
  return Object.fromEntries(values);
}

function valueOf(command: Command, option: Option, { name, value }: Flag): unknown {
  if (option.type === 'flag') {
    if (value === undefined || value === 'true' || value === 'false') return value !== 'false';
    throw wrong(command, `--${name}: found "${value}", allowed are true and false`);
  }
  if (value === undefined || value === '')
    throw wrong(command, `--${name} needs a value: ${option.value ?? 'one word'}`);
  if (option.type === 'text') return value;
  if (option.type === 'day') {
    if (onCalendar(value)) return value;
    throw wrong(command, `--${name}: found "${value}", allowed is a day of the calendar, YYYY-MM-DD`);
  }
  const least = option.min ?? 0;
  if (/^-?\d{1,15}$/.test(value) && Number(value) >= least) return Number(value);
  throw wrong(command, `--${name}: found "${value}", allowed is a whole number, ${least} or more`);
}

/** The words as the command declares its positionals. */
function wordsOf(command: Command, found: readonly string[]): Readonly<Record<string, unknown>> {
  let rest = found;
  const values = Object.entries(command.positionals).map(([name, positional]) => {
    const { takes, about } = positional;
    const words = takes === 'many' ? rest : rest.slice(0, 1);
    rest = rest.slice(words.length);
    if (takes === 'one' && words.length === 0) throw wrong(command, `it needs <${name}>: ${about}`);
    refuseOther(command, name, positional, words);
    return [name, takes === 'many' ? words : words[0]] as const;
  });
  if (rest[0] !== undefined) throw wrong(command, `found "${rest[0]}", which is one word too many`);
  return Object.fromEntries<unknown>(values);
}

function refuseOther(command: Command, name: string, { choices }: Positional, words: readonly string[]): void {
  const unknown = choices && words.find((word) => !choices.includes(word));
  if (unknown === undefined) return;
  const allowed = choices?.join(', ');
  throw wrong(command, `${name}: found "${unknown}", allowed are ${allowed}${suggestion(unknown, choices ?? [])}`);
}

/** Throws a UsageError for a flag that is not declared, also for a positional that is written as a flag. */
function refuseUnknownFlags(command: Command | undefined, flags: readonly Flag[]): void {
  const known = Object.keys({ ...acceptedOptions, ...commonOptions, ...command?.options, ...answeredOptions });
  const strange = flags.find(({ name }) => !known.includes(name));
  if (!strange) return;
  const { name, raw } = strange;
  const isPositional = Object.keys(command?.positionals ?? {}).includes(name);
  const advice = isPositional ? '; write its value as a plain word' : suggestion(name, known, '--');
  throw wrong(command, `unknown flag ${raw}${advice}`);
}

const unknownCommand = (name: string, commands: readonly CommandSummary[]): UsageError => {
  const names = commands.map((it) => it.name);
  return wrong(undefined, `unknown command "${name}"${suggestion(name, names)}`);
};

function noCommand(commands: readonly CommandSummary[]): UsageError {
  const listed = commands.filter(({ hidden }) => hidden !== true).map(({ name }) => name);
  return wrong(undefined, `no command given; allowed are ${listed.join(', ')}`);
}

function suggestion(word: string, names: readonly string[], dashes = ''): string {
  const guess = nearest(word, names);
  return guess === undefined ? '' : `; did you mean ${dashes}${guess}?`;
}

function wrong(command: Command | undefined, message: string): UsageError {
  return command
    ? new UsageError(`${command.name}: ${message}`, { next: `Run sluice ${command.name} --help for its options.` })
    : new UsageError(message, { next: 'Run sluice --help for the commands.' });
}
