/** Writes the result of a command to standard output. */
import type { Context } from '../context.ts';
import { asJson, type OutputName, versioned } from './json.ts';

/** Writes the result as JSON with `--json`, otherwise as the text that `text` returns. Both are redacted. */
export function show(context: Context, name: OutputName, result: object, text: () => string): void {
  context.status.clear();
  context.out.write(context.redactor.redact(context.json ? asJson(versioned(name, result)) : text()));
}
