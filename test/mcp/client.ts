/** A client of `sluice mcp`: JSON-RPC over the pipes of the program, which is a process or runs in that of the test. */
import { randomUUID } from 'node:crypto';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.ts';
import { type Ran, type Running, type RunOptions, start } from '../cli/program-run.ts';

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A running server. It ends with the test. */
export interface McpServer {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<Ran>;
}

/** Starts the program as a process. */
export function startServer(
  words: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'env' | 'node'>,
): McpServer & Running {
  const running = start(['mcp', ...words], { ...options, keepsInput: true });
  onTestFinished(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  return { ...running, input: running.child.stdin, output: running.child.stdout };
}

/** Runs the program in the process of the test, which takes a tenth of the processor time. */
export function serverHere(words: readonly string[], env: Readonly<Record<string, string>>): McpServer {
  const input = new PassThrough();
  const output = new PassThrough();
  const end = new AbortController();
  const onOut = (text: string): void => void output.write(text);
  const ended = runInProcess(['mcp', ...words], { env, input, onOut, signal: end.signal, newId: randomUUID });
  onTestFinished(async () => {
    end.abort();
    await ended;
  });
  return { input, output, ended };
}

/** A client of a server. */
export class McpClient {
  readonly server: McpServer;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #lastId = 0;
  #rest = '';

  constructor(server: McpServer) {
    this.server = server;
    server.output.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        const message = JSON.parse(line) as Message;
        this.#waiting.get(message.id ?? 0)?.(message);
      }
    });
  }

  /** Writes a line as it is. */
  send(line: string): void {
    this.server.input.write(`${line}\n`);
  }

  /** Sends a request; the answer as it arrives. `id` is that of the request. */
  request(method: string, params: object = {}): { readonly id: number; readonly answer: Promise<Message> } {
    const id = (this.#lastId += 1);
    const answer = Promise.withResolvers<Message>();
    this.#waiting.set(id, answer.resolve);
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return { id, answer: answer.promise };
  }

  async result<T>(method: string, params?: object): Promise<T> {
    const { result, error } = await this.request(method, params).answer;
    expect(error).toBeUndefined();
    return result as T;
  }

  /** Calls a tool. */
  call(name: string, args: object = {}): Promise<ToolResult> {
    return this.result('tools/call', { name, arguments: args });
  }

  /** The result of a call that succeeds. */
  async data<T>(name: string, args?: object): Promise<T> {
    const { structuredContent, content, isError } = await this.call(name, args);
    expect({ name, text: isError === true ? content : '' }).toEqual({ name, text: '' });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
    return (structuredContent?.['untrusted_data'] ?? structuredContent) as T;
  }

  /** The text of a call that fails. */
  async refusal(name: string, args?: object): Promise<string> {
    const { content, isError } = await this.call(name, args);
    expect({ name, args, isError }).toEqual({ name, args, isError: true });
    return content.map(({ text }) => text).join('\n');
  }

  cancel(requestId: number): void {
    this.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }));
  }

  /** Ends the input; what the server wrote until it ended. */
  end(): Promise<Ran> {
    this.server.input.end();
    return this.server.ended;
  }
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** Opens a session as most clients do. Returns what the server says about itself too. */
export async function connect(server: McpServer) {
  const client = new McpClient(server);
  const about = await client.result<{ readonly instructions: string }>('initialize', HELLO);
  client.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  return { client, about };
}
