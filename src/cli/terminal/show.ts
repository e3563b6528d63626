/** Writes the result of a command to standard output. */
import type { Context } from '../context.ts';
import { asJson, type OutputName, versioned } from './json.ts';

/** Writes the result as JSON with `--json`, otherwise as the text that `text` returns. Both are redacted. */
export function show(context: Context, name: OutputName, result: object, text: () => string): void {
  context.status.clear();
  context.out.write(context.redactor.redact(printed(context, name, result, text)));
}

/**
 * Writes a result without secrets that other programs read, without redaction: a password such as `sluice` may be equal to a
 * name in it.
 */
export function showGenerated(context: Context, name: OutputName, result: object, text: () => string): void {
  context.status.clear();
  context.out.write(printed(context, name, result, text));
}

const printed = ({ json }: Context, name: OutputName, result: object, text: () => string): string =>
  json ? asJson(versioned(name, result)) : text();
