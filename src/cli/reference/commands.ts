/** Renders the reference of commands from the same data as the help. */
import { answeredOptions, type Command, commonOptions, type Options, usageOf } from '../command.ts';
import { anchor, code, generated, markdownTable, page, plain } from './markdown.ts';

/** The contents of `docs/commands.md`. */
export function commandsPage(commands: readonly Command[]): string {
  return page([
    generated('Commands'),
    'In a checkout, run `npm run -s sluice -- COMMAND`. Results go to standard output; progress, logs and errors go to standard error. [Errors](errors.md) explains the exit codes.',
    markdownTable(
      ['Command', 'Purpose'],
      commands.map((it) => [`[${code(it.name)}](#${anchor(it.name)})`, it.summary]),
    ),
    'Every command accepts these options:',
    optionsTable({ ...commonOptions, ...answeredOptions }),
    ...commands.flatMap(commandBlocks),
  ]);
}

function commandBlocks(it: Command): (string | undefined)[] {
  const positionals = Object.entries(it.positionals).map(([name, { about, choices }]) => [
    code(name),
    choices ? `${about} One of ${choices.map(code).join(', ')}.` : about,
  ]);
  return [
    `## ${it.name}`,
    code(`sluice ${usageOf(it)}`),
    plain(it.about),
    positionals.length > 0 ? markdownTable(['Argument', 'Meaning'], positionals) : undefined,
    Object.keys(it.options).length > 0 ? optionsTable(it.options) : undefined,
    `\`\`\`sh\n${it.examples.map(({ line, about }) => `# ${about}\n${line}`).join('\n\n')}\n\`\`\``,
  ];
}

const optionsTable = (options: Options): string =>
  markdownTable(
    ['Option', 'Meaning'],
    Object.entries(options).map(([name, { value, about }]) => [
      code(value === undefined ? `--${name}` : `--${name} ${value}`),
      about,
    ]),
  );
