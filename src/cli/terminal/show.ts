/** Writes the result of a command to standard output. */
import type { Context } from '../context.ts';
import { asJson, type Output } from './json.ts';

/** Writes the result as JSON with `--json`, otherwise as the text that `text` returns. Both are redacted. */
export function show(context: Context, result: Output, text: () => string): void {
  context.status.clear();
  context.out.write(context.redactor.redact(context.json ? asJson(result) : text()));
}
