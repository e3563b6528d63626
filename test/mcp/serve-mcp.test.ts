/** The server with tools of the test: what it does with values that JSON lacks, with secrets, and with bugs. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { serveMcp } from '../../src/mcp/serve-mcp.ts';
import { type Tool, tool } from '../../src/mcp/tool.ts';

const TEXT = { title: 'A tool', description: 'A tool.', isReadOnly: true, input: z.strictObject({}) } as const;
const TOOLS: readonly Tool[] = [
  tool({
    ...TEXT,
    name: 'values',
    holds: 'data',
    result: z.looseObject({}),
    run: async () => ({
      result: {
        big: 2n ** 70n,
        at: new Date(0),
        nested: [{ text: 'a secret\u202e', 'a secret': 1, 'a [redacted]': 2 }],
        none: undefined,
      },
      note: 'Cut.',
    }),
  }),
  tool({
    ...TEXT,
    name: 'names',
    holds: 'declared',
    result: z.looseObject({}),
    run: async () => ({ result: { secret: 'secret' } }),
  }),
  tool({
    ...TEXT,
    name: 'wrong',
    holds: 'data',
    result: z.object({ n: z.number() }),
    run: async () => ({ result: { n: 'one' } }),
  }),
  tool({
    ...TEXT,
    name: 'bug',
    holds: 'data',
    result: z.looseObject({}),
    run: () => Promise.reject(new TypeError('undefined is not a function')),
  }),
];

it('a server answers with JSON without secrets, and survives a bug of a tool', async () => {
  const input = new PassThrough();
  const lines: string[] = [];
  const served = serveMcp({
    tools: TOOLS,
    version: '1',
    about: 'For a test.',
    input,
    write: (text) => lines.push(text),
    signal: new AbortController().signal,
    failureText: (error) => `failed: ${(error as Error).message}`,
    redact: (text) => text.replaceAll('secret', '[redacted]'),
    onIgnored: () => undefined,
  });
  for (const [index, { name }] of TOOLS.entries())
    input.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: index, method: 'tools/call', params: { name, arguments: {} } })}\n`,
    );
  await expect.poll(() => lines.length).toBe(TOOLS.length);
  input.end();
  await served;
  const answers = lines.map((line) => JSON.parse(line) as { readonly id: number; readonly result: object });
  const results = answers.toSorted((a, b) => a.id - b.id).map(({ result }) => result);
  expect(results).toMatchObject([
    {
      structuredContent: {
        note: 'Cut.',
        untrusted_data: {
          big: '1180591620717411303424',
          at: '1970-01-01T00:00:00.000Z',
          nested: [{ text: 'a [redacted]\u202e', 'a [redacted]': 1, 'a [redacted] (2)': 2 }],
        },
      },
      content: [{ text: expect.stringContaining('a [redacted]\\u202e') }],
      isError: false,
    },
    // Names of the code may be equal to a password.
    { structuredContent: { secret: 'secret' } },
    { isError: true, content: [{ text: expect.stringContaining('Output validation error') }] },
    { isError: true, content: [{ text: 'failed: undefined is not a function' }] },
  ]);
});
