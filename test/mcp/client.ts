/** A client of `sluice mcp`: JSON-RPC over the pipes of the real program. */
import { expect, onTestFinished } from 'vitest';
import { type Ran, type RunOptions, start } from '../cli/program-run.ts';

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

/** A running server, after the handshake. It ends with the test. */
export class McpClient {
  readonly server: ReturnType<typeof start>;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #lastId = 0;
  #rest = '';

  constructor(words: readonly string[], options: Pick<RunOptions, 'cwd' | 'env' | 'node'>) {
    this.server = start(['mcp', ...words], { ...options, keepsInput: true });
    this.server.child.stdout.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        const message = JSON.parse(line) as Message;
        this.#waiting.get(message.id ?? 0)?.(message);
      }
    });
    onTestFinished(async () => {
      this.server.child.kill('SIGKILL');
      await this.server.ended;
    });
  }

  /** Writes a line as it is. */
  send(line: string): void {
    this.server.child.stdin.write(`${line}\n`);
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
    this.server.child.stdin.end();
    return this.server.ended;
  }
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** Starts `sluice mcp`, and opens the session as most clients do. Returns what the server says about itself too. */
export async function connect(...options: ConstructorParameters<typeof McpClient>) {
  const client = new McpClient(...options);
  const about = await client.result<{ readonly instructions: string }>('initialize', HELLO);
  client.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  return { client, about };
}
