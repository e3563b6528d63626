/** From the words of the command line to a command and its arguments, or to the help that was asked for. */
import yargs from 'yargs';
import { nearest } from '../config/document/nearest.ts';
import { UsageError } from '../errors.ts';
import { onCalendar } from '../service/day.ts';
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
  | { readonly kind: 'run'; readonly command: Command; readonly said: Readonly<Record<string, unknown>> }
  /** Help or version, for standard output. */
  | { readonly kind: 'tell'; readonly text: string };

export interface Program {
  /** In the order of the help; those that the words may name, with what they take. */
  readonly commands: readonly (Command | CommandSummary)[];
  readonly version: string;
  /** Width that the help is laid out for. */
  readonly columns: number;
}

/** What the words ask for. Throws a UsageError that names the nearest thing for whatever is not known. */
export function parseCommandLine(words: readonly string[], program: Program): ParsedCommandLine {
  let chosen: Command | undefined;
  let active: Command | undefined;
  let told = '';
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
    .parseSync(asWords(words), {}, (_error: unknown, _found: unknown, output: string) => {
      told = output;
    });
  if (told !== '' && (active !== undefined || found._.length === 0))
    return { kind: 'tell', text: `${told.trimEnd()}\n` };
  if (!chosen) throw noCommand(found, program);
  refusePositionalFlags(chosen, words);
  return { kind: 'run', command: chosen, said: checked(chosen, found) };
}

/**
 * Stands before a word that the parser would take for a flag: those after `--`, and `-` alone. No word of a command line
 * can hold this character.
 */
const WORD_MARK = '\0';
const unmarked = (word: string): string => (word.startsWith(WORD_MARK) ? word.slice(1) : word);

function asWords(words: readonly string[]): string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const before = words.slice(0, end).map((word) => (word === '-' ? WORD_MARK + word : word));
  return [...before, ...words.slice(end + 1).map((word) => WORD_MARK + word)];
}

/** How the parser begins to say that a positional is missing; nothing but its words reaches the handler of failures. */
const TOO_FEW = 'Not enough non-option arguments';
const needs = (command: Command | undefined): string =>
  Object.entries(command?.positionals ?? {})
    .filter(([, { takes }]) => takes === 'one')
    .map(([name, { about }]) => `<${name}>: ${about}`)
    .join(', ');

type Found = Readonly<Record<string, unknown>> & { readonly _: readonly (string | number)[] };
type Parser = ReturnType<typeof yargs>;

/** A setting that the parser has and its type declarations lack. */
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

/** One below the other: beside each other, the longer command lines would be broken. */
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

/** The arguments as the command declares them; whatever it does not declare is refused. */
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
  // Said more than once, the last counts, as it does for a variable set twice.
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
  const other = choices && words.find((word) => !choices.includes(word));
  if (other !== undefined) {
    throw wrong(command, `${name}: found "${other}", allowed are ${choices?.join(', ')}${meant(other, choices ?? [])}`);
  }
  return takes === 'many' ? words : words[0];
}

function refuseUnknownFlags(command: Command | undefined, found: Found, known: readonly string[]): void {
  const all = [...known, ...Object.keys(answeredOptions)];
  const strange = Object.keys(found).find((name) => name !== '_' && name !== '$0' && !all.includes(name));
  if (strange === undefined) return;
  throw wrong(command, `unknown flag ${strange.length === 1 ? '-' : '--'}${strange}${meant(strange, all, '--')}`);
}

/** The parser would take `--names a` for the word `a`. */
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
      `unknown command "${word}"${meant(
        String(word),
        commands.map(({ name }) => name),
      )}`,
    );
  }
  refuseUnknownFlags(undefined, found, Object.keys(commonOptions));
  const listed = commands.filter(({ hidden }) => hidden !== true).map(({ name }) => name);
  return wrong(undefined, `no command given; allowed are ${listed.join(', ')}`);
}

function meant(word: string, names: readonly string[], dashes = ''): string {
  const guess = nearest(word, names);
  return guess === undefined ? '' : `; did you mean ${dashes}${guess}?`;
}

function wrong(command: Command | undefined, message: string): UsageError {
  return command
    ? new UsageError(`${command.name}: ${message}`, { next: `Run sluice ${command.name} --help for what it takes.` })
    : new UsageError(message, { next: 'Run sluice --help for what there is.' });
}
