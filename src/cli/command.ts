/** A command of the command line as data: what the parser, the help, the reference and the tests all read. */
import type { Context } from './context.ts';

export interface Option {
  /** A `flag` is on or off, a `number` is whole, a `day` is YYYY-MM-DD, anything else is `text`. */
  readonly type: 'flag' | 'text' | 'number' | 'day';
  readonly about: string;
  /** What stands for the value in the help, such as FILE. */
  readonly value?: string;
  /** The least number allowed. */
  readonly min?: number;
}
export type Options = Readonly<Record<string, Option>>;

export interface Positional {
  readonly about: string;
  /** How many words it takes; the last positional alone may take many. */
  readonly takes: 'one' | 'optional' | 'many';
  /** The only words allowed. */
  readonly choices?: readonly string[];
  /** What completion offers for it beside the choices. */
  readonly completes?: 'syncs' | 'endpoints';
}
export type Positionals = Readonly<Record<string, Positional>>;

export interface Example {
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

/** What was said on the command line, by the names of options and positionals. */
export type Arguments<O extends Options, P extends Positionals> = {
  readonly [K in keyof O]: OptionValue<O[K]>;
} & { readonly [K in keyof P]: PositionalValue<P[K]> };

/** What the list of commands tells. */
export interface CommandSummary {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Not in the list of commands. */
  readonly hidden?: boolean;
}

/** A command whose particulars are loaded when it is named. */
export interface LazyCommand extends CommandSummary {
  readonly load: () => Promise<CommandBody>;
}

interface CommandHelp {
  /** What its users should know beyond the options. */
  readonly about: string;
  readonly examples: readonly Example[];
  /** Works for long and logs: off a terminal, everything that it tells is JSON lines. */
  readonly logs?: boolean;
}

/** What a command takes, and does. */
export interface CommandBody extends CommandHelp {
  readonly options: Options;
  readonly positionals: Positionals;
  /** Returns the exit code. `args` were checked against the options and positionals. */
  readonly run: (args: Readonly<Record<string, unknown>>, context: Context) => Promise<number>;
}

export interface Command extends CommandSummary, CommandBody {}

/** The particulars of a command, whose `run` sees its arguments by type. */
export function command<const O extends Options, const P extends Positionals>(
  it: CommandHelp & {
    readonly options: O;
    readonly positionals: P;
    readonly run: (args: Arguments<O, P>, context: Context) => Promise<number>;
  },
): CommandBody {
  return { ...it, run: (args, context) => it.run(args as Arguments<O, P>, context) };
}

/** The command and what may follow it, as the help writes it. */
export const usageOf = ({ name, positionals }: Pick<Command, 'name' | 'positionals'>): string =>
  [name, ...Object.entries(positionals).map(usageOfPositional)].join(' ');

const usageOfPositional = ([name, { takes }]: readonly [string, Positional]): string =>
  takes === 'one' ? `<${name}>` : takes === 'many' ? `[${name}..]` : `[${name}]`;

/** Options that every command takes. */
export const commonOptions = {
  json: { type: 'flag', about: 'Print the result as JSON.' },
  quiet: { type: 'flag', about: 'Tell nothing but results, warnings and errors.' },
  verbose: { type: 'flag', about: 'Tell more while working, and show the stack of a bug.' },
} as const satisfies Options;

/** Options that every command takes too, and that the parser answers by itself. */
export const answeredOptions = {
  help: { type: 'flag', about: 'Show what a command does and takes.' },
  version: { type: 'flag', about: 'Show the version.' },
} as const satisfies Options;

/** The option of every command that reads the config. */
export const configOption = {
  config: {
    type: 'text',
    value: 'FILE',
    about: 'The config; else SLUICE_CONFIG, else sluice.yaml, else configs/quickstart.yaml.',
  },
} as const satisfies Options;
