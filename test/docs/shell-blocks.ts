/** The shell that pages of the documentation show, and a copy of the project to run it in. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runInProcess } from '../cli/in-process.ts';
import { builtProgram, SOURCES } from '../support/built.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  /** The word after the fence. */
  readonly language: string;
  /** The words after that. */
  readonly tags: readonly string[];
  readonly body: string;
}

/** The text of a page, by its path in the checkout. */
export const pageOf = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

/** Every fenced block of a page, in order. */
export const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w+)(.*)\n([\s\S]*?)^```$/gm)].map(([, language = '', tags = '', body = '']) => ({
    language,
    tags: tags.trim().split(' '),
    body,
  }));

/** The words of every command line of Sluice in blocks of shell, up to a redirection or the next command. */
export const commandLinesOf = (blocks: readonly Block[]): string[][] =>
  blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ body }) => body.split('\n'))
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => /(?:^|[\s&(])sluice (?:-- )?(.*)/.exec(line)?.[1] ?? [])
    .map(wordsOf);

function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  const end = words.findIndex((word) => ['>', '>>', '<', '||', '&&', '|'].includes(word));
  return end < 0 ? words : words.slice(0, end);
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * What a command of Sluice in a script is: a process that npm starts; a process without npm, which takes half as long as
 * the command; or a call in the test's own process, which takes a fraction.
 */
type How = 'npm' | 'process' | 'inside';

export interface Project {
  readonly folder: string;
  /** Runs a script to its end. */
  readonly run: (script: string, how: How) => Promise<Outcome>;
  /** Starts a sandbox by this command, on a free port; gives the lines that it prints to be put before scripts. */
  readonly startSandbox: (command: string, how: 'npm' | 'process') => Promise<readonly string[]>;
  readonly remove: () => Promise<void>;
}

/** Replaces npm in a script by these commands, which get the words of a command line of Sluice. */
const insteadOfNpm = (commands: string): string => `npm() {
  [ "$1 $2 $3 $4" = "run -s sluice --" ] || { echo "unexpected: npm $*" >&2; return 1; }
  shift 4
${commands}
}
`;

/** Starts the program as npm would. */
const PROCESS = insteadOfNpm('  node src/main.js "$@"');

/** Hands the command line to the test, with the folder and the environment, and prints what comes back in two files. */
const insideOf = (replies: string): string =>
  insteadOfNpm(`  printf '%s\\0' "$PWD" "$(env)" "$#" "$@" >&3
  IFS= read -r code <&4
  cat '${replies}/out'
  cat '${replies}/err' >&2
  return "$code"`);

/**
 * A copy of the project, in which scripts see nothing of the test's environment. Its program is the checkout's sources, or
 * the bundle, which starts with half the processor time. All projects share them, and what is compiled of them.
 */
export async function copiedProject(program: 'sources' | 'bundle'): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
  const replies = await mkdtemp(join(tmpdir(), 'sluice-replies-'));
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  await cp(join(ROOT, 'configs'), join(folder, 'configs'), { recursive: true });
  const { main, cache } = program === 'sources' ? SOURCES : await builtProgram();
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'src', 'main.js'), `import ${JSON.stringify(pathToFileURL(main).href)};\n`);
  const begun: ChildProcess[] = [];

  const shell = (script: string) => {
    const child = spawn('sh', ['-eu', '-c', script], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, CI: '1', NODE_COMPILE_CACHE: cache },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const [, stdout, stderr, asked, answers] = child.stdio as [null, Readable, Readable, Readable, Writable];
    return { child, stdout, asked, answers, ended: Promise.all([once(child, 'close'), text(stdout), text(stderr)]) };
  };
  return {
    folder,
    run: async (script, how) => {
      const before = { npm: '', process: PROCESS, inside: insideOf(replies) }[how];
      const { ended, asked, answers } = shell(before + script);
      const served = serve(asked, answers, replies);
      const [[code], out, err] = await ended;
      await served;
      return { code: code as number | null, out, err };
    },
    startSandbox: async (command, how) => {
      const { child, stdout } = shell(`${how === 'npm' ? '' : PROCESS}${command.trim()} --port 0`);
      begun.push(child);
      const printed = await new Promise<string>((resolve, reject) => {
        let written = '';
        stdout.on('data', (chunk: Buffer) => {
          written += chunk.toString();
          if (/TOKEN=.*\n/.test(written)) resolve(written);
        });
        child.once('exit', () => reject(new Error(`the sandbox ended: ${written}`)));
      });
      return printed.split('\n').filter((line) => line.startsWith('export '));
    },
    remove: async () => {
      // Its complete process group: npm and the shell are in between.
      for (const { pid } of begun) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      await Promise.all([folder, replies].map((it) => rm(it, { recursive: true })));
    },
  };
}

/** Runs the command lines of a script, one after another, until the script ends. */
async function serve(asked: Readable, answers: Writable, replies: string): Promise<void> {
  let parts: string[] = [];
  let rest = '';
  for await (const chunk of asked.setEncoding('utf8') as AsyncIterable<string>) {
    const found = (rest + chunk).split('\0');
    rest = found.pop() ?? '';
    parts = [...parts, ...found];
    const [cwd = '', environment = '', count, ...words] = parts;
    if (words.length !== Number(count)) continue;
    parts = [];
    const { code, out, err } = await runInProcess(words, { cwd, env: environmentOf(environment), newId: randomUUID });
    await writeFile(join(replies, 'out'), out);
    await writeFile(join(replies, 'err'), err);
    answers.write(`${code}\n`);
  }
}

/** The variables as `env` prints them, one in a line. */
const environmentOf = (printed: string): Record<string, string> =>
  Object.fromEntries(
    printed.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
