/** Writes a command's result to standard output: JSON when asked for, else text, without secrets either way. */
import type { Context } from '../context.ts';
import { asJson } from './json.ts';

/** Writes the result; `text` makes what people read. */
export function show(context: Context, result: unknown, text: () => string): void {
  context.status.clear();
  context.out.write(context.redactor.redact(context.json ? asJson(result) : text()));
}
