/**
 * Types of a command as data, which the parser, the help, the reference and the tests read, and the errors of flags that
 * exclude or need each other.
 */
import type { Context } from './context.ts';
import { UsageError } from '../errors.ts';

export interface Option {
  /** A `flag` is on or off, a `number` is an integer, a `day` is YYYY-MM-DD, and `text` is any other value. */
  readonly type: 'flag' | 'text' | 'number' | 'day';
  readonly about: string;
  /** The name of the value in the help, such as FILE. */
  readonly value?: string;
  /** The least number allowed. */
  readonly min?: number;
}
export type Options = Readonly<Record<string, Option>>;

/** An option that is on or off. */
export const flag = (about: string) => ({ type: 'flag', about }) as const;
/** An option with a text. `value` is the name of the value in the help, such as FILE. */
export const text = (value: string, about: string) => ({ type: 'text', value, about }) as const;
/** An option with an integer, which is at least `min`. */
export const number = (value: string, about: string, bounds: { readonly min?: number } = {}) =>
  ({ type: 'number', value, about, ...bounds }) as const;
/** An option with a day, YYYY-MM-DD. */
export const day = (about: string) => ({ type: 'day', value: 'DAY', about }) as const;

export interface Positional {
  readonly about: string;
  /** How many words it accepts; only the last positional can accept many. */
  readonly takes: 'one' | 'optional' | 'many';
  /** The allowed words; absent if any word is allowed. */
  readonly choices?: readonly string[];
  /** The names that completion offers for it, apart from the choices. A subject is anything that can be described. */
  readonly completes?: 'syncs' | 'endpoints' | 'tables' | 'subjects';
}
type Positionals = Readonly<Record<string, Positional>>;

interface Example {
  readonly line: string;
  readonly about: string;
}

type OptionValue<O extends Option> = O['type'] extends 'flag'
  ? boolean
  : (O['type'] extends 'number' ? number : string) | undefined;
type PositionalValue<P extends Positional> = P['takes'] extends 'many'
  ? readonly string[]
  : P['takes'] extends 'one'
    ? string
    : string | undefined;

/** The values from the command line, by the names of options and positionals. */
export type Arguments<O extends Options, P extends Positionals> = {
  readonly [K in keyof O]: OptionValue<O[K]>;
} & { readonly [K in keyof P]: PositionalValue<P[K]> };

/** An entry in the list of commands. */
export interface CommandSummary {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** True if the list of commands leaves it out. */
  readonly hidden?: boolean;
}

/** A command whose body is loaded when the command line names it. */
export interface LazyCommand extends CommandSummary {
  readonly load: () => Promise<CommandBody>;
}

interface CommandHelp {
  /** What users need to know in addition to the options. */
  readonly about: string;
  readonly examples: readonly Example[];
  /** True for a long-running command that logs: without a terminal, its log is JSON lines. */
  readonly logs?: boolean;
}

/** The options, positionals and action of a command. */
export interface CommandBody extends CommandHelp {
  readonly options: Options;
  readonly positionals: Positionals;
  /** Returns the exit code. `args` were checked against the options and positionals. */
  readonly run: (args: Readonly<Record<string, unknown>>, context: Context) => Promise<number>;
}

export interface Command extends CommandSummary, CommandBody {}

/** The body of a command. Its `run` gets arguments typed by the declared options and positionals. */
export function command<const O extends Options, const P extends Positionals>(
  body: CommandHelp & {
    readonly options: O;
    readonly positionals: P;
    readonly run: (args: Arguments<O, P>, context: Context) => Promise<number>;
  },
): CommandBody {
  return { ...body, run: (args, context) => body.run(args as Arguments<O, P>, context) };
}

/** The command and its positionals in the notation of the help. */
export const usageOf = ({ name, positionals }: Pick<Command, 'name' | 'positionals'>): string =>
  [name, ...Object.entries(positionals).map(usageOfPositional)].join(' ');

const usageOfPositional = ([name, { takes }]: readonly [string, Positional]): string =>
  takes === 'one' ? `<${name}>` : takes === 'many' ? `[${name}..]` : `[${name}]`;

/** Options of every command. */
export const commonOptions = {
  json: flag('Print the result as JSON.'),
  quiet: flag('Print only results, warnings and errors.'),
  verbose: flag('Log more details, and show the stack of a bug.'),
} as const satisfies Options;

/** Options of every command that the parser handles itself. */
export const answeredOptions = {
  help: flag('Show help.'),
  version: flag('Show the version.'),
} as const satisfies Options;

const config = text('FILE', 'Config file (default: SLUICE_CONFIG, then sluice.yaml, then configs/quickstart.yaml).');

/** Options that every command accepts, so that a wrapper can always pass them. Only commands that declare them use them. */
export const acceptedOptions = { config } as const satisfies Options;

/** The option of every command that reads the config. */
export const configOption = {
  config,
  'env-file': text('FILE', 'File of variables, one NAME=VALUE a line, for those that the environment does not set.'),
} as const satisfies Options;

interface Advice {
  /** Why the flags exclude each other. */
  readonly because?: string;
  readonly next?: string;
}

/** The error of flags or names that have no effect together. */
export const flagConflict = (
  command: string,
  [flag, others]: readonly [string, string],
  { because, next = 'Leave one of them out.' }: Advice = {},
): UsageError =>
  new UsageError(
    `${command}: ${flag} cannot be combined with ${others}${because === undefined ? '' : `; ${because}`}`,
    {
      next,
    },
  );

/** The error of a flag without another that it needs. */
export const flagRequires = (command: string, flag: string, other: string, next: string): UsageError =>
  new UsageError(`${command}: ${flag} requires ${other}`, { next });
