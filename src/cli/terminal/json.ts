/** Results as JSON, for programs. */
import { escapeJsonControls } from '../../text/terminal-safe.ts';

/** The value as indented JSON with a line break. Characters that a terminal would obey are escaped; nothing is lost. */
export const asJson = (value: unknown): string => `${escapeJsonControls(JSON.stringify(value, exact, 2) ?? 'null')}\n`;

/** Whole numbers beyond what JSON's readers hold exactly are written as text. */
const exact = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** The value as JSON on one line, with its line break. */
export const asJsonLine = (value: unknown): string => `${escapeJsonControls(JSON.stringify(value, exact) ?? 'null')}\n`;
