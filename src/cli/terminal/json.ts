/** Formats results as JSON, for programs. */
import { escapeJsonControls } from '../../text/terminal-safe.ts';

/** The value as indented JSON with a line break. Control characters are escaped, so no value is lost. */
export const asJson = (value: unknown): string => `${escapeJsonControls(JSON.stringify(value, exact, 2) ?? 'null')}\n`;

/** The elements of an array as `asJson` would print it, one by one, since together they may be longer than a string can be. */
export function* jsonElements(values: readonly unknown[]): Generator<string, void> {
  if (values.length === 0) {
    yield asJson(values);
    return;
  }
  for (const [index, value] of values.entries()) {
    const element = escapeJsonControls(JSON.stringify([value], exact, 2)).slice('['.length, -'\n]'.length);
    yield `${index === 0 ? '[' : ','}${element}`;
  }
  yield '\n]\n';
}

/** Replaces a bigint by text, because readers of JSON do not keep large integers exact. */
const exact = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** The value as JSON on one line, with its line break. */
export const asJsonLine = (value: unknown): string => `${escapeJsonControls(JSON.stringify(value, exact) ?? 'null')}\n`;

/** The name of an output and the version of its schema in `docs/schemas/`, such as `sync/1`. */
export type OutputName = `${string}/${number}`;

/** The result with its name as `format`, unless it is an array. Its type is its schema (docs/decisions/29-json-outputs.md). */
export const versioned = <T extends object>(name: OutputName, result: T): T =>
  Array.isArray(result) ? result : { format: name, ...result };

/** The fields of a log line that has a schema, with its name as `format`. */
export const logged = (name: OutputName, facts: object): Readonly<Record<string, unknown>> => ({
  format: name,
  ...facts,
});
