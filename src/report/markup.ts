/** HTML templates without injection: every value is escaped as text, unless it is markup itself. */
import { escapeControls } from '../text/terminal-safe.ts';

/** A part of a page that is trusted as markup. */
export interface Markup {
  readonly markup: string;
}

/** A value in a template. Nothing is written for an absent value. */
export type Content = string | number | Markup | readonly Content[] | undefined | null | false;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * The text, safe between tags and in quoted attributes. It contains no tag, ends no quote and does not change the text
 * direction. Control characters and unpaired surrogates are made visible.
 */
export const escaped = (text: string): string => withEntities(escapeControls(text));

const withEntities = (text: string): string => text.replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');

/** The text with its control characters, such as line breaks, for a field that a user edits. It contains no tag. */
export const exact = (text: string): Markup => ({ markup: withEntities(text) });

/** The markup of a template. Every value is escaped; the template must contain the quotes of attributes. */
export function html(template: readonly string[], ...values: readonly Content[]): Markup {
  const pieces = template.map((text, index) => (index === 0 ? text : written(values[index - 1]) + text));
  return { markup: pieces.join('') };
}

/** The text as markup, unchanged. Use it only for the page's own style. */
export const trusted = (markup: string): Markup => ({ markup });

function written(value: Content): string {
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(written).join('');
}

/** A text from outside, whose direction does not affect the text around it. It may wrap after dots, slashes, dashes and underscores. */
export const named = (text: string): Markup =>
  html`<bdi>${text.split(/(?<=[._/-])(?=.)/s).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</bdi>`;
