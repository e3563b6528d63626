/** Parses a command line into a command with its arguments, or into the text of the help or version. */
import yargs from 'yargs';
import { nearest } from '../config/document/nearest.ts';
import { UsageError } from '../errors.ts';
import { onCalendar } from '../day.ts';
import {
  answeredOptions,
  type Command,
  commonOptions,
  type CommandSummary,
  type Option,
  type Options,
  type Positional,
  usageOf,
} from './command.ts';
import { exitCodes } from './exit-codes.ts';

export type ParsedCommandLine =
  | { readonly kind: 'run'; readonly command: Command; readonly args: Readonly<Record<string, unknown>> }
  /** Help or version, for standard output. */
  | { readonly kind: 'text'; readonly text: string };

export interface Program {
  /** The commands in the order of the help. Those that the command line names are loaded. */
  readonly commands: readonly (Command | CommandSummary)[];
  readonly version: string;
  /** The width of the help. */
  readonly columns: number;
}

/** The command or text that the words request. Throws a UsageError for unknown words, with the most similar known word. */
export function parseCommandLine(words: readonly string[], program: Program): ParsedCommandLine {
  let chosen: Command | undefined;
  let active: Command | undefined;
  let output = '';
  const parser = program.commands.reduce(
    (built, command) =>
      built.command({
        command: 'options' in command ? usageOf(command) : command.name,
        describe: command.hidden === true ? false : command.summary,
        builder: (own) => {
          if (!('options' in command)) return own;
          active = command;
          return describe(own, command);
        },
        handler: () => {
          if ('options' in command) chosen = command;
        },
      }),
    base(program),
  );
  const found: Found = parser
    .fail((message: string) => {
      throw wrong(active, message.startsWith(TOO_FEW) ? `it needs ${needs(active)}` : message);
    })
    .parseSync(asWords(words), {}, (_error: unknown, _found: unknown, text: string) => {
      output = text;
    });
  if (output !== '' && (active !== undefined || found._.length === 0))
    return { kind: 'text', text: `${output.trimEnd()}\n` };
  if (!chosen) throw noCommand(found, program);
  refusePositionalFlags(chosen, words);
  return { kind: 'run', command: chosen, args: checked(chosen, found) };
}

/**
 * A prefix for words that the parser would mistake for flags: words after `--`, and a single `-`. No word of a command
 * line can contain this character.
 */
const WORD_MARK = '\0';
const unmarked = (word: string): string => (word.startsWith(WORD_MARK) ? word.slice(1) : word);

function asWords(words: readonly string[]): string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const before = words.slice(0, end).map((word) => (word === '-' ? WORD_MARK + word : word));
  return [...before, ...words.slice(end + 1).map((word) => WORD_MARK + word)];
}

/** The start of the parser's message for a missing positional. The failure handler gets only the message. */
const TOO_FEW = 'Not enough non-option arguments';
const needs = (command: Command | undefined): string =>
  Object.entries(command?.positionals ?? {})
    .filter(([, { takes }]) => takes === 'one')
    .map(([name, { about }]) => `<${name}>: ${about}`)
    .join(', ');

type Found = Readonly<Record<string, unknown>> & { readonly _: readonly (string | number)[] };
type Parser = ReturnType<typeof yargs>;

/** A setting of the parser that is missing in its type declarations. */
type Configurable = Parser & { readonly usageConfiguration: (settings: { readonly 'hide-types': boolean }) => Parser };

function base({ version, columns }: Program): Parser {
  const parser = (yargs() as Configurable)
    .usageConfiguration({ 'hide-types': true })
    .scriptName('sluice')
    .usage('sluice COMMAND\n\nSyncs a paid data extraction service into a Postgres warehouse.')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    })
    .detectLocale(false)
    .wrap(Math.min(columns, 120))
    .help('help')
    .describe('help', answeredOptions.help.about)
    .version(version)
    .describe('version', answeredOptions.version.about)
    .showHelpOnFail(false)
    .exitProcess(false)
    .updateStrings({ 'Not enough arguments following: %s': '--%s needs a value' })
    .epilogue(
      `sluice COMMAND --help shows the options and examples of a command. Exit codes: ${exitCodes
        .map(({ code, short }) => `${code} ${short}`)
        .join(', ')}, 128+n ended by signal n.`,
    );
  return withOptions(parser, commonOptions);
}

function describe(parser: Parser, command: Command): Parser {
  const described = Object.entries(command.positionals).reduce(
    (built, [name, { about, choices }]) =>
      built.positional(name, { type: 'string', describe: choices ? `${about} One of ${choices.join(', ')}.` : about }),
    withOptions(parser, command.options),
  );
  return described.usage(`sluice ${usageOf(command)}\n\n${command.about}`).epilogue(examplesOf(command));
}

/** The examples, with each comment above its command: side by side, long commands would wrap. */
const examplesOf = ({ examples }: Command): string =>
  ['Examples:', ...examples.map(({ line, about }) => `  # ${about}\n  ${line}`)].join('\n');

function withOptions(parser: Parser, options: Options): Parser {
  return Object.entries(options).reduce(
    (built, [name, option]) =>
      built.option(name, {
        type: option.type === 'flag' ? 'boolean' : 'string',
        describe: option.value === undefined ? option.about : `${option.value}: ${option.about}`,
        requiresArg: option.type !== 'flag',
      }),
    parser,
  );
}

/**
 * The arguments as the command declares them. Throws a UsageError for undeclared and invalid ones. The strict mode of yargs
 * is not enough: it says `Unknown argument: x` of flags, words and commands alike, names no similar one, and accepts a
 * positional that is written as a flag.
 */
function checked(command: Command, found: Found): Readonly<Record<string, unknown>> {
  const options: Options = { ...commonOptions, ...command.options };
  refuseUnknownFlags(command, found, [...Object.keys(options), ...Object.keys(command.positionals)]);
  const surplus = found._[1];
  if (surplus !== undefined) throw wrong(command, `found "${unmarked(String(surplus))}", which is one word too many`);
  return Object.fromEntries<unknown>([
    ...Object.entries(options).map(([name, option]) => [name, valueOf(command, name, option, found[name])] as const),
    ...Object.entries(command.positionals).map(([name, it]) => [name, wordOf(command, name, it, found[name])] as const),
  ]);
}

function valueOf(command: Command, name: string, option: Option, found: unknown): unknown {
  // If an option is repeated, the last value counts.
  const value: unknown = Array.isArray(found) ? found.at(-1) : found;
  if (option.type === 'flag') return value === true;
  if (typeof value !== 'string') return undefined;
  const last = unmarked(value);
  if (last === '') throw wrong(command, `--${name} needs a value: ${option.value ?? 'one word'}`);
  if (option.type === 'text') return last;
  if (option.type === 'day') return dayOf(command, name, last);
  const least = option.min ?? 0;
  if (!/^-?\d{1,15}$/.test(last) || Number(last) < least) {
    throw wrong(command, `--${name}: found "${last}", allowed is a whole number, ${least} or more`);
  }
  return Number(last);
}

function dayOf(command: Command, name: string, found: string): string {
  if (!onCalendar(found))
    throw wrong(command, `--${name}: found "${found}", allowed is a day of the calendar, YYYY-MM-DD`);
  return found;
}

function wordOf(command: Command, name: string, { takes, choices }: Positional, found: unknown): unknown {
  const words = (Array.isArray(found) ? found : [found])
    .filter((it): it is string => typeof it === 'string')
    .map(unmarked);
  const unknown = choices && words.find((word) => !choices.includes(word));
  if (unknown !== undefined) {
    const allowed = choices?.join(', ');
    throw wrong(command, `${name}: found "${unknown}", allowed are ${allowed}${suggestion(unknown, choices ?? [])}`);
  }
  return takes === 'many' ? words : words[0];
}

function refuseUnknownFlags(command: Command | undefined, found: Found, known: readonly string[]): void {
  const all = [...known, ...Object.keys(answeredOptions)];
  const strange = Object.keys(found).find((name) => name !== '_' && name !== '$0' && !all.includes(name));
  if (strange === undefined) return;
  throw wrong(command, `unknown flag ${strange.length === 1 ? '-' : '--'}${strange}${suggestion(strange, all, '--')}`);
}

/** Throws a UsageError for a positional that is written as a flag: the parser would read `--names a` as the word `a`. */
function refusePositionalFlags(command: Command, words: readonly string[]): void {
  const flags = words
    .slice(0, words.includes('--') ? words.indexOf('--') : words.length)
    .map((word) => word.split('=')[0]);
  const strange = Object.keys(command.positionals).find((name) => flags.includes(`--${name}`));
  if (strange !== undefined) throw wrong(command, `unknown flag --${strange}; write its value as a plain word`);
}

function noCommand(found: Found, { commands }: Program): UsageError {
  const word = found._[0];
  if (word !== undefined) {
    return wrong(
      undefined,
      `unknown command "${word}"${suggestion(
        String(word),
        commands.map(({ name }) => name),
      )}`,
    );
  }
  refuseUnknownFlags(undefined, found, Object.keys(commonOptions));
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
