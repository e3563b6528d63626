/** The shell that pages of the documentation show, and a copy of the project to run it in. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { builtProgram } from '../support/built.ts';

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

export interface Project {
  /** Runs a script to its end. */
  readonly run: (script: string) => Promise<Outcome>;
  /** Starts a sandbox by this command, on a free port; gives the lines that it prints to be put before scripts. */
  readonly startSandbox: (command: string) => Promise<readonly string[]>;
  readonly remove: () => Promise<void>;
}

/**
 * A copy of the project with links to its dependencies, in which scripts see nothing of the test's environment. Its
 * program is the sources, or the bundle, which starts with half the processor time.
 */
export async function copiedProject(program: 'sources' | 'bundle'): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  // Programs and configs are copied, since the program finds the quickstart's folder by where it lies itself.
  await cp(join(ROOT, 'configs'), join(folder, 'configs'), { recursive: true });
  if (program === 'sources')
    for (const part of ['src', 'migrations']) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  else {
    const { main } = await builtProgram();
    await cp(dirname(main), join(folder, 'dist', 'src'), { recursive: true });
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'src', 'main.js'), "import '../dist/src/main.js';\n");
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const begun: ChildProcess[] = [];

  const shell = (script: string) => {
    const child = spawn('sh', ['-eu', '-c', script], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, CI: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    return { child, ended: Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]) };
  };
  return {
    run: async (script) => {
      const [[code], out, err] = await shell(script).ended;
      return { code: code as number | null, out, err };
    },
    startSandbox: async (command) => {
      const { child } = shell(`exec ${command.trim()} --port 0`);
      begun.push(child);
      const printed = await new Promise<string>((resolve, reject) => {
        let written = '';
        child.stdout.on('data', (chunk: Buffer) => {
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
      await rm(folder, { recursive: true });
    },
  };
}
