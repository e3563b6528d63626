/** The text of a value for people. */
import { escapeControls } from './terminal-safe.ts';

/** The value as one line of text without control characters. */
export function displayText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return escapeControls(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (typeof value === 'bigint') return value.toString();
  return escapeControls(JSON.stringify(value) ?? 'null');
}
