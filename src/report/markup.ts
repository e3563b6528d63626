/** Markup that can't be injected into: whatever a template takes in is text, unless it is markup itself. */
import { escapeControls } from '../text/terminal-safe.ts';

/** A piece of a page that is known to be markup. */
export interface Markup {
  readonly markup: string;
}

/** What a template takes in; nothing is written for what is absent. */
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
 * The text as it may stand between tags and in quoted attributes: nothing in it is a tag, ends a quote or turns the
 * line round; control characters and halves of characters are shown.
 */
export const escaped = (text: string): string =>
  escapeControls(text).replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');

/** Markup of a template. Every value is escaped, so attributes need their quotes in the template. */
export function html(template: readonly string[], ...values: readonly Content[]): Markup {
  const pieces = template.map((text, at) => (at === 0 ? text : written(values[at - 1]) + text));
  return { markup: pieces.join('') };
}

/** The text as markup, unchanged: for the page's own style alone. */
export const trusted = (markup: string): Markup => ({ markup });

function written(value: Content): string {
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(written).join('');
}

/** A word of strangers, kept from turning round what stands beside it. Where room is short it breaks after dots and the like. */
export const named = (text: string): Markup =>
  html`<bdi>${text.split(/(?<=[._/-])(?=.)/s).map((part, at) => html`${at > 0 && html`<wbr>`}${part}`)}</bdi>`;
