/** `sluice init`: a first config, with what belongs beside it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { isCi } from '../terminal/ci.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { writeOutputFile } from '../terminal/output-file.ts';
import { show } from '../terminal/show.ts';

export const init = command({
  about:
    'Writes sluice.yaml, .env.example and sync.schema.json, and a .gitignore where there is none. ' +
    'On a terminal it asks for what the flags leave open; elsewhere, in CI and with --json it takes what is usual: webparser.parse, an embedded warehouse, 100 points. ' +
    'Endpoints that are not taken are in the config as comments. ' +
    'What is there already is left alone, and nothing is written, unless --force is given.',
  options: {
    dir: { type: 'text', value: 'DIR', about: 'The folder to write to; else the working directory.' },
    warehouse: { type: 'text', value: 'KIND', about: 'embedded, or postgres for the one that DATABASE_URL names.' },
    'per-run': { type: 'number', value: 'POINTS', min: 1, about: 'The most points that a run may spend.' },
    force: { type: 'flag', about: 'Write over what is there.' },
  },
  positionals: {
    endpoints: {
      takes: 'many',
      completes: 'endpoints',
      about: 'Endpoints to begin with, such as pronet.search.users; all takes every one.',
    },
  },
  examples: [
    { line: 'sluice init', about: 'In this folder.' },
    { line: 'sluice init --dir warehouse', about: 'In another, which is made when it is not there.' },
    {
      line: 'sluice init sec.search.companies webparser.parse --warehouse postgres --per-run 500',
      about: 'Without questions.',
    },
  ],
  run: async ({ dir = '.', force, endpoints, warehouse, 'per-run': pointsPerRun }, context) => {
    // Before the first question: whoever has answered them all should not be refused.
    const names = ['sluice.yaml', '.env.example', 'sync.schema.json'];
    const there = names.map((name) => join(dir, name)).filter((path) => existsSync(path));
    if (there.length > 0 && !force) {
      throw new UsageError(
        `init: ${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already; nothing was written`,
        {
          next: 'Name another folder with --dir, or write over what is there with --force.',
        },
      );
    }
    const [{ initAnswers }, { configTemplate, envExample, GITIGNORE }, { schemaText }] = await Promise.all([
      import('../init-answers.ts'),
      import('../../config/template.ts'),
      import('../reference/schema-text.ts'),
    ]);
    const ask = context.json || isCi(context.env) ? undefined : context.ask;
    const wishes = await initAnswers({ endpoints, warehouse, pointsPerRun }, ask);
    const ignore = join(dir, '.gitignore');
    const keepsIgnore = existsSync(ignore);
    const files = [
      { path: join(dir, 'sluice.yaml'), content: configTemplate(wishes, './sync.schema.json') },
      { path: join(dir, '.env.example'), content: envExample(wishes.warehouse) },
      { path: join(dir, 'sync.schema.json'), content: schemaText() },
      ...(keepsIgnore ? [] : [{ path: ignore, content: GITIGNORE }]),
    ];
    for (const file of files) {
      await writeOutputFile('init', '--dir', { ...file, overwrites: force, makesFolders: true });
    }
    if (keepsIgnore) await warnOfSecrets(ignore, GITIGNORE, context);
    const written = files.map(({ path }) => path);
    show(
      context,
      { written },
      () => `${written.map((path) => `wrote ${escapeControls(path)}\n`).join('')}${nextSteps(dir)}`,
    );
    return 0;
  },
});

/** A token that is committed is known to whoever reads the repository. */
async function warnOfSecrets(path: string, wanted: string, { log }: Context): Promise<void> {
  const lines = (await readFile(path, 'utf8').catch(() => '')).split(/\r?\n/).map((it) => it.trim());
  const missing = wanted.split('\n').filter((it) => it !== '' && !lines.includes(it));
  if (missing.length > 0)
    log.warn(`${path} is kept as it is and lacks ${missing.join(' and ')}: add what is to stay out of git`);
}

function nextSteps(dir: string): string {
  // From there, since the embedded warehouse lies where commands are run.
  const enter = dir === '.' ? [] : [`  cd ${shellWord(dir)}`];
  return [
    'next:',
    ...enter,
    '  cp .env.example .env',
    '    and fill in the token; sluice sandbox prints the one that it takes',
    '  set -a; . ./.env; set +a',
    '  sluice check',
    '  sluice plan',
    '  sluice sync',
    '',
  ].join('\n');
}

/** The text as one word of a shell. */
const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${escapeControls(text).replaceAll("'", `'\\''`)}'`;
