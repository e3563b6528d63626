/** Formats results as JSON, for programs. */
import { escapeJsonControls } from '../../text/terminal-safe.ts';

/** The value as indented JSON with a line break. Control characters are escaped, so no value is lost. */
export const asJson = (value: unknown): string => `${escapeJsonControls(JSON.stringify(value, exact, 2) ?? 'null')}\n`;

/** Replaces a bigint by text, because readers of JSON do not keep large integers exact. */
const exact = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** The value as JSON on one line, with its line break. */
export const asJsonLine = (value: unknown): string => `${escapeJsonControls(JSON.stringify(value, exact) ?? 'null')}\n`;
