/** Controls an installed Chromium over a pipe: opens a page and records its messages and requests. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** The Chromium that SLUICE_TEST_CHROMIUM names, else the first on the PATH; undefined when there is none. */
export function findChromium(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env['SLUICE_TEST_CHROMIUM'];
  if (named !== undefined && named !== '') return named;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((it) => it !== '');
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

type Message = Readonly<Record<string, unknown>>;

/** One tab. */
export interface Tab {
  /** Sends a command of the DevTools protocol. */
  readonly send: (method: string, params?: Message) => Promise<Message>;
  /** Opens an address and waits until all of it is there. */
  readonly open: (url: string) => Promise<void>;
  /** The value of an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Console messages, errors of the page, and dialogs. */
  readonly said: string[];
  /** Every requested address. */
  readonly requested: string[];
}

/** Each of these events is a message of the browser. */
const SAYING = [
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
  'Log.entryAdded',
  'Page.javascriptDialogOpening',
  'Audits.issueAdded',
];

/** Background activities of the browser that would use the network. */
const QUIET = [
  '--headless=new',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--no-first-run',
  '--hide-scrollbars',
];

/** Starts the browser, gives a tab, and ends the browser after the work. */
export async function inChromium<T>(program: string, work: (tab: Tab) => Promise<T>): Promise<T> {
  const profile = await mkdtemp(join(tmpdir(), 'sluice-chromium-'));
  // Root has no sandbox to put a browser into.
  const flags = [...QUIET, `--user-data-dir=${profile}`, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  const child = spawn(program, [...flags, '--remote-debugging-pipe', 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  try {
    return await work(await tabOf(child.stdio[3] as Writable, child.stdio[4] as Readable, ended));
  } finally {
    child.kill('SIGKILL');
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function tabOf(input: Writable, output: Readable, ended: Promise<void>): Promise<Tab> {
  const waiting = new Map<number, { readonly resolve: (it: Message) => void; readonly reject: (it: Error) => void }>();
  const said: string[] = [];
  const requested: string[] = [];
  let ids = 0;
  const session: { sessionId?: string } = {};
  let loaded: () => void = () => undefined;

  const take = (message: Message): void => {
    const { id, method, params, result, error } = message as {
      readonly id?: number;
      readonly method?: string;
      readonly params?: Message;
      readonly result?: Message;
      readonly error?: { readonly message: string };
    };
    if (id !== undefined) {
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result ?? {});
      waiting.delete(id);
    }
    if (method !== undefined && SAYING.includes(method)) said.push(`${method} ${JSON.stringify(params)}`);
    if (method === 'Network.requestWillBeSent') requested.push((params as { request: { url: string } }).request.url);
    if (method === 'Page.loadEventFired') loaded();
  };

  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop() ?? '';
    for (const it of messages) take(JSON.parse(it) as Message);
  });
  input.on('error', () => undefined);
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('the browser ended'));
  });

  const send = (method: string, params: Message = {}): Promise<Message> =>
    new Promise((resolve, reject) => {
      ids += 1;
      waiting.set(ids, { resolve, reject });
      input.write(`${JSON.stringify({ id: ids, method, params, ...session })}\0`);
    });

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  session.sessionId = (await send('Target.attachToTarget', { targetId, flatten: true }))['sessionId'] as string;
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Audits']) await send(`${domain}.enable`);
  return {
    send,
    said,
    requested,
    open: async (url) => {
      const isThere = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await send('Page.navigate', { url });
      await isThere;
    },
    evaluate: async (expression) => {
      const { result } = await send('Runtime.evaluate', { expression, returnByValue: true });
      return (result as { readonly value?: unknown }).value;
    },
  };
}
