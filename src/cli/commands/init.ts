/** `sluice init`: writes a first config with its schema, .env.example and .gitignore. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { isCi } from '../terminal/ci.ts';
import { command, flag, number, text } from '../command.ts';
import type { Context } from '../context.ts';
import { writeOutputFile } from '../terminal/output-file.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { show } from '../terminal/show.ts';

export const init = command({
  about:
    'Write sluice.yaml, .env.example and sync.schema.json, and a .gitignore if there is none. ' +
    'On a terminal, the command asks for values that no flag sets. Without a terminal, in CI and with --json, it uses the defaults: webparser.parse, an embedded warehouse, 100 points. ' +
    'The config contains the other endpoints as comments. ' +
    'If one of the files exists, nothing is written without --force. --config has no effect; --dir names the folder.',
  options: {
    dir: text('DIR', 'Folder to write to (default: the working directory).'),
    warehouse: text('KIND', 'embedded or postgres (default: embedded); postgres uses the server in DATABASE_URL.'),
    'per-run': number(
      'POINTS',
      'Maximum number of points that a run may spend (default: 100); a day may spend five times as many.',
      { min: 1 },
    ),
    force: flag('Overwrite existing files.'),
  },
  positionals: {
    endpoints: {
      takes: 'many',
      completes: 'endpoints',
      about: 'Endpoints to include, such as pronet.search.users; all includes every endpoint.',
    },
  },
  examples: [
    { line: 'sluice init', about: 'Write to this folder.' },
    { line: 'sluice init --dir warehouse', about: 'Write to another folder, and create it if necessary.' },
    {
      line: 'sluice init sec.search.companies webparser.parse --warehouse postgres --per-run 500',
      about: 'Skip the questions.',
    },
  ],
  run: async ({ dir = '.', force, endpoints, warehouse, 'per-run': pointsPerRun }, context) => {
    // Checked before the first question, so that no answers are lost to a refusal.
    const names = ['sluice.yaml', '.env.example', 'sync.schema.json'];
    const existing = names.map((name) => join(dir, name)).filter((path) => existsSync(path));
    if (existing.length > 0 && !force) {
      throw new UsageError(
        `init: ${existing.join(', ')} ${existing.length === 1 ? 'exists' : 'exist'} already; nothing was written`,
        { next: 'Set another folder with --dir, or overwrite existing files with --force.' },
      );
    }
    const [{ initAnswers }, { configTemplate, envExample, GITIGNORE }, { schemaText }] = await Promise.all([
      import('../init-answers.ts'),
      import('../../config/template.ts'),
      import('../reference/schema-text.ts'),
    ]);
    const ask = context.json || isCi(context.env) ? undefined : context.ask;
    const answers = await initAnswers({ endpoints, warehouse, pointsPerRun }, ask);
    const ignore = join(dir, '.gitignore');
    const keepsIgnore = existsSync(ignore);
    const files = [
      { path: join(dir, 'sluice.yaml'), content: configTemplate(answers, './sync.schema.json') },
      { path: join(dir, '.env.example'), content: envExample(answers.warehouse) },
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
      'init/1',
      { written },
      () => `${written.map((path) => `wrote ${escapeControls(path)}\n`).join('')}${nextSteps(dir)}`,
    );
    return 0;
  },
});

/** Warns if an existing .gitignore does not cover the files with secrets: everyone who reads the repository could read a committed token. */
async function warnOfSecrets(path: string, wanted: string, { log }: Context): Promise<void> {
  const lines = (await readFile(path, 'utf8').catch(() => '')).split(/\r?\n/).map((it) => it.trim());
  const missing = wanted.split('\n').filter((it) => it !== '' && !lines.includes(it));
  if (missing.length > 0)
    log.warn(`${path} is unchanged and lacks ${missing.join(' and ')}: add the files that must stay out of git`);
}

function nextSteps(dir: string): string {
  // The commands find the config in the working directory.
  const enter = dir === '.' ? [] : [`  cd ${shellWord(dir)}`];
  return [
    'next:',
    ...enter,
    '  cp .env.example .env',
    '    and fill in the token; sluice sandbox prints the token that it accepts',
    '  set -a; . ./.env; set +a',
    '  sluice check',
    '  sluice plan',
    '  sluice sync',
    '',
  ].join('\n');
}
