/** The text of the help, of the program and of each command. Loaded only to show it, because its layout takes time. */
import yargs from 'yargs';
import { answeredOptions, type Command, commonOptions, type CommandSummary, type Options, usageOf } from './command.ts';
import { exitCodes } from './exit-codes.ts';

/** The help of the command, or of the program. It is as wide as `columns` allows, up to 120. */
export function helpText(
  commands: readonly (Command | CommandSummary)[],
  columns: number,
  command: Command | undefined,
): string {
  let help = '';
  commands
    .reduce(
      (built, { name, summary, hidden }) =>
        built.command({
          command: name === command?.name ? usageOf(command) : name,
          describe: hidden === true ? false : summary,
          builder: (own) => (name === command?.name ? describe(own, command) : own),
          handler: () => undefined,
        }),
      base(columns),
    )
    .parseSync([...(command ? [command.name] : []), '--help'], {}, (_error: unknown, _found: unknown, text: string) => {
      help = text;
    });
  return `${help.trimEnd()}\n`;
}

type Parser = ReturnType<typeof yargs>;

/** A setting of the parser that is missing in its type declarations. */
type Configurable = Parser & { readonly usageConfiguration: (settings: { readonly 'hide-types': boolean }) => Parser };

function base(columns: number): Parser {
  const parser = (yargs() as Configurable)
    .usageConfiguration({ 'hide-types': true })
    .scriptName('sluice')
    .usage('sluice COMMAND\n\nSyncs a paid data extraction service into a Postgres warehouse.')
    .detectLocale(false)
    .wrap(Math.min(columns, 120))
    .help('help')
    .describe('help', answeredOptions.help.about)
    .version('')
    .describe('version', answeredOptions.version.about)
    .exitProcess(false)
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
      }),
    parser,
  );
}
