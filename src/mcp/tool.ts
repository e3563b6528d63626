/** A tool of the MCP server as data: what a client reads about it, and what it does. */
import type * as z from 'zod';

/** The answer to one call. */
export interface ToolAnswer {
  /** The values behind the schema `result` of the tool. */
  readonly result: object;
  /** A remark of Sluice about the result, such as that rows are missing. */
  readonly note?: string | undefined;
  /** True if the call did not do what it should. */
  readonly isError?: boolean;
}

interface ToolText {
  readonly name: string;
  readonly title: string;
  /** What the tool does, when to use it, and what it costs. */
  readonly description: string;
  /** `declared`: results come from the code alone. `data`: results hold texts of others, as data and without secrets. */
  readonly holds: 'declared' | 'data';
  /** True if the tool changes nothing and spends nothing. */
  readonly isReadOnly: boolean;
}

export interface Tool extends ToolText {
  readonly input: z.ZodObject;
  readonly result: z.ZodObject;
  /** Answers a call. The arguments were checked against `input`. The signal aborts when the client cancels the call. */
  readonly run: (args: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<ToolAnswer>;
}

/** The tool. Its `run` gets arguments typed by `input`. */
export const tool = <I extends z.ZodObject>(
  it: ToolText & {
    readonly input: I;
    readonly result: z.ZodObject;
    readonly run: (args: z.output<I>, signal: AbortSignal) => Promise<ToolAnswer>;
  },
): Tool => ({ ...it, run: (args, signal) => it.run(args as z.output<I>, signal) });
