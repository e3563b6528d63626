/** Every command line of Sluice in `deploy/` and on its page is one that the program takes. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allCommands } from '../../src/cli/commands.ts';
import { parseCommandLine } from '../../src/cli/program.ts';
import { blocksOf, commandLinesOf } from '../docs/shell-blocks.ts';
import { documentOf, documentsOf, textOf } from './published.ts';

const commands = await allCommands();

type Lines = readonly (readonly string[])[];
type Named<T> = Readonly<Record<string, T>>;

const compose = (): Lines =>
  Object.values(documentOf('deploy/compose.yaml')['services'] as Named<{ image: string; command?: string[] }>)
    .filter(({ image }) => image.startsWith('sluice:'))
    .map(({ command = [] }) => command);

/** The arguments of every container, wherever in an object a pod is. */
function argumentsIn(value: unknown): Lines {
  if (typeof value !== 'object' || value === null) return [];
  const { containers } = value as { readonly containers?: readonly { readonly args?: readonly string[] }[] };
  return [...(containers ?? []).map(({ args = [] }) => args), ...Object.values(value).flatMap(argumentsIn)];
}
const kubernetes = (): Lines =>
  readdirSync('deploy/kubernetes').flatMap((name) => documentsOf(`deploy/kubernetes/${name}`).flatMap(argumentsIn));

const systemd = (): Lines =>
  readdirSync('deploy/systemd')
    .filter((name) => name.endsWith('.service'))
    .flatMap((name) => [...textOf(`deploy/systemd/${name}`).matchAll(/^ExecStart=\S+\/sluice (.*)$/gm)])
    .map(([, words = '']) => words.split(' '));

/** Values in place of variables. */
const actions = (): Lines =>
  commandLinesOf([
    {
      language: 'sh',
      tags: [],
      body: textOf('deploy/github-actions.yaml').replaceAll('"$left"', '500').replaceAll('"${names[@]}"', 'a b'),
    },
  ]);

const planCost = (): Lines =>
  commandLinesOf([
    {
      language: 'sh',
      tags: [],
      body: textOf('deploy/github/plan-cost.yaml').replaceAll('"$BASE"', 'main').replaceAll('"$FAIL_ABOVE"', '500'),
    },
  ]);

/** What `run_sync` puts together; `python.test.ts` sees it do so. */
const python: Lines = [['sync', '--json'], 'sync a b --json --max-points 5'.split(' ')];

const page = textOf('docs/deploy.md');
const inline = [...page.matchAll(/`sluice ([^`]+)`/g)].map(([, words = '']) => words.split(' '));

const places: readonly (readonly [string, Lines, number])[] = [
  ['deploy/compose.yaml', compose(), 5],
  ['deploy/kubernetes', kubernetes(), 4],
  ['deploy/systemd', systemd(), 4],
  ['deploy/github-actions.yaml', actions(), 1],
  ['deploy/github/plan-cost.yaml', planCost(), 1],
  ['deploy/python', python, 2],
  ['docs/deploy.md', [...commandLinesOf(blocksOf(page)), ...inline], 5],
];

describe.each(places)('%s', (_, lines, atLeast) => {
  it('names only commands and flags that there are', () => {
    expect(lines.length).toBeGreaterThanOrEqual(atLeast);
    for (const words of lines) expect(parseCommandLine(words, commands).kind, words.join(' ')).toBe('run');
  });
});
