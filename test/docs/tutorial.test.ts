/** Runs the tutorial's commands in their order, in a copy of the project, and holds its outputs against what comes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { IS_LONG } from '../support/long.ts';
import { postgresTemplate } from '../support/templates.ts';
import { blocksOf, copiedProject, pageOf, type Project } from './shell-blocks.ts';

const blocks = blocksOf(await pageOf('docs/tutorial.md'));

/** Is a process in any case. */
const FIRST_SYNC = /sluice -- sync$/m;

let project: Project;
/** Variables that scripts after this one see, each as an `export`. */
let exported: readonly string[];
/** With `SLUICE_LONG=1`, the warehouse is a folder, as the page says. Else it is on a server, where each command takes 0.4 s less. */
let database: FreshDatabase | undefined;
beforeAll(async () => {
  project = await copiedProject('bundle');
  const background = blocks.find(({ tags }) => tags.includes('background'));
  exported = await project.startSandbox(background?.body ?? '', 'process');
  if (!IS_LONG) database = await freshDatabase(await postgresTemplate());
});
afterAll(async () => {
  await project.remove();
  await database?.drop();
});

/** Blocks of shell that are to be run, each with the lines that are shown after it. */
const steps = blocks.flatMap(({ language, tags, body }, at) => {
  if (language !== 'sh' || tags.includes('background')) return [];
  const next = blocks[at + 1];
  return [{ body, tags, shown: next?.language === 'text' ? next.body.trimEnd().split('\n') : [] }];
});

/** Lines without what differs in each run: durations, and the widths of columns. */
const linesOf = (output: string): string[] =>
  output
    .replaceAll(/\b\d[\d.]* (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)?/g, 'TIME')
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' ').trimEnd());

/** The line of an output that a page shows; … stands for any text. */
function shownLine(line: string, output: string): string | undefined {
  const [shown = ''] = linesOf(line);
  const [begin = '', end] = shown.split('…');
  const found = linesOf(output).find((it) =>
    end === undefined ? it === shown : it.startsWith(begin) && it.endsWith(end),
  );
  return found === undefined ? undefined : shown;
}

describe('the tutorial', () => {
  it('shows nothing that is not run', () => {
    expect(steps.length).toBeGreaterThan(8);
    expect(steps.filter(({ tags }) => !tags.includes('run'))).toEqual([]);
  });

  it('does what it says, step by step', { timeout: 600_000 }, async () => {
    const [first, ...rest] = steps;
    expect(first?.body.trimEnd().split('\n')).toEqual(exported.map((line) => line.replace(/:\d+$/, ':8787')));
    if (database) exported = [...exported, `export DATABASE_URL='${database.url}'`];
    const process = rest.findIndex(({ body }) => FIRST_SYNC.test(body));
    expect(process).toBeGreaterThan(0);
    for (const [at, { body, shown }] of rest.entries()) {
      const how = IS_LONG || at === process ? 'process' : 'inside';
      const { code, out, err } = await project.run([...exported, body].join('\n'), how);
      expect({ body, code, err: code === 0 ? '' : err }).toEqual({ body, code: 0, err: '' });
      expect(
        shown.map((line) => shownLine(line, out)),
        out,
      ).toEqual(shown.flatMap(linesOf));
      exported = [...exported, ...body.split('\n').filter((line) => line.startsWith('export '))];
    }
  });
});
